// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const valid = `
apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets, generation: 2}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete, size: 10Gi, endpoint: {url: ""}}
  placement: {zones: [a, b, c]}
  resources: {requests: {cpu: 1, memory: 512Mi}}
  network: {extraEgress: [{ports: [{port: 443}, {port: https}]}]}
`

// An editor underlines what the API server would refuse or drop, and only that.
func TestSchemas(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"valid":                {},
		"everything optional":  {"  network:", "  env: [{name: CELLD_X, value: x}]\n  lifecycle: {}\n  identity: ''\n  network:", ""},
		"another apiVersion":   {"v1alpha1", "v1beta1", "/apiVersion"},
		"no spec":              {valid[strings.Index(valid, "spec:"):], "", "missing property 'spec'"},
		"unknown field":        {"replicas: 3", "replicas: 3\n  replica: 3", "additional properties 'replica' not allowed"},
		"unknown nested field": {"zones: [a", "zone: a, zones: [a", "additional properties 'zone' not allowed"},
		"missing field":        {"  serviceAccountName: celld-runtime\n", "", "missing property 'serviceAccountName'"},
		"out of range":         {"replicas: 3", "replicas: 101", "/spec/replicas"},
		"text for a number":    {"replicas: 3", "replicas: '3'", "/spec/replicas"},
		"zone twice":           {"[a, b, c]", "[a, a]", "/spec/placement/zones"},
		"image by tag":         {"@sha256:", ":v1 #", "/spec/runtimeImage"},
		"bucket of http":       {"s3://my", "http://my", "/spec/storage/bucket"},
		"quantity":             {"10Gi", "10Gigs", "/spec/storage/size"},
		"number with a point":  {"10Gi", "1.5", "/spec/storage/size"},
		"name of a Service":    {"name: my-fleet", "name: my-peers", "/metadata/name"},
		"long name":            {"name: my-fleet", "name: a" + strings.Repeat("b", 40), "/metadata/name"},
		"no name":              {"name: my-fleet, ", "", "missing property 'name'"},
	} {
		for kind, file := range map[string]string{"PersistentFleet": "persistentfleet.json", "BucketFleet": "bucketfleet.json"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				text := strings.Replace(valid, c.old, c.new, 1)
				if kind == "BucketFleet" {
					text = strings.NewReplacer("PersistentFleet", kind, "storageClassName: ebs-delete, ", "").Replace(text)
				}
				var doc any
				require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
				schema, err := jsonschema.NewCompiler().Compile(file)
				require.NoError(t, err)
				err = schema.Validate(doc)
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.want)
			})
		}
	}
}

func TestKindsDoNotMix(t *testing.T) {
	for file, field := range map[string]string{"persistentfleet.json": "workload: Ordered", "bucketfleet.json": "storageClassName: fast"} {
		schema, err := jsonschema.NewCompiler().Compile(file)
		require.NoError(t, err)
		var doc any
		require.NoError(t, yaml.Unmarshal([]byte("spec: {"+field+", storage: {"+field+"}}"), &doc))
		name, _, _ := strings.Cut(field, ":")
		require.ErrorContains(t, schema.Validate(doc), "'"+name+"' not allowed")
	}
}
