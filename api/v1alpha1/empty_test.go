// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/fleetwright/fleetwright/test/crdcheck"
)

// Empty means the default: an optional string may be "", an optional object {}, an optional list []. The exceptions say
// something by being there, except the region, which s3 needs.
func TestEmptyMeansDefault(t *testing.T) {
	all := checkers(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			refused := refusedWhenEmpty(t, kind, all[kind], []string{"spec"})
			require.ElementsMatch(t, []string{
				"spec.storage.region",
				"spec.routing.source", "spec.routing.gateway", "spec.routing.ingress",
				"spec.telemetry.egress", "spec.telemetry.headersSecretKeyRef",
			}, refused)
		})
	}
}

// refusedWhenEmpty tries each optional field below path, and goes on into objects that may be empty or must be there.
func refusedWhenEmpty(t *testing.T, kind string, check *crdcheck.Checker, path []string) (refused []string) {
	t.Helper()
	s := schemaAt(check.Schema, path)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child, at := s.Properties[name], append(slices.Clone(path), name)
		empty, canBeEmpty := map[string]any{"string": "", "object": map[string]any{}, "array": []any{}}[child.Type]
		required := s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
		if canBeEmpty && !required && !accepted(t, kind, check, with(object(t, kind), at, empty)) {
			refused = append(refused, strings.Join(at, "."))
			continue
		}
		if child.Type == "object" {
			refused = append(refused, refusedWhenEmpty(t, kind, check, at)...)
		}
	}
	return refused
}

func accepted(t *testing.T, kind string, check *crdcheck.Checker, obj map[string]any) bool {
	t.Helper()
	f, err := decode(kind, obj)
	require.NoError(t, err)
	byGo, byCRD := f.Validate(), check.Create(obj)
	require.Equal(t, len(byGo) == 0, len(byCRD) == 0, "%v\n%v", byGo, byCRD)
	return len(byCRD) == 0
}

func schemaAt(s *schema.Structural, path []string) *schema.Structural {
	for _, step := range path {
		child := s.Properties[step]
		s = &child
	}
	return s
}

// with returns a copy of an object with one field set.
func with(obj map[string]any, path []string, value any) map[string]any {
	patch := map[string]any{path[len(path)-1]: value}
	for _, step := range slices.Backward(path[:len(path)-1]) {
		patch = map[string]any{step: patch}
	}
	return merge(obj, patch)
}
