// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Validate takes a fleet before or after Default, and finds everything at once.
func ExampleNewFleet() {
	for _, kind := range v1alpha1.FleetKinds() {
		f := v1alpha1.NewFleet(kind)
		f.SetName("my-fleet")
		f.Default()
		fmt.Println(f.Kind(), f.Ordered(), len(f.Validate()) > 0)
	}
	// Output:
	// PersistentFleet true true
	// BucketFleet false true
}
