// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/render/source"
)

// Every problem comes back at once, each with its place, and nothing is returned beside them.
func ExampleRead() {
	const text = `apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet}
spec:
  replicas: three
  runtimeImage: ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccount: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
	_, err := source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(text), Namespace: "fleets"})
	var problems source.Problems
	if !errors.As(err, &problems) {
		fmt.Println("not a problem of the input:", err)
		return
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// stdin:5:13: spec.replicas: "three" is a string, must be a whole number
	// stdin:7:3: spec.serviceAccount: unknown field, did you mean "serviceAccountName"?
}
