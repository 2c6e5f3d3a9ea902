// SPDX-License-Identifier: Apache-2.0

package output_test

import (
	"fmt"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

// From files to objects, as the command does it.
func ExampleEach() {
	set, err := source.Read([]string{"../../examples/quickstart/fleet.yaml"}, source.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	warnings, err := output.Each(set, render.Options{}, func(doc *source.Document, objects render.Objects) error {
		fmt.Println(doc.ID, "renders to", len(objects)-1, "objects")
		return nil
	})
	fmt.Println(len(warnings), err)
	// Output:
	// PersistentFleet fleets/my-fleet renders to 5 objects
	// 0 <nil>
}
