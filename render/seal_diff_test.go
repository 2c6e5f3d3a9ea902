// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

func treeOf(t testing.TB, object []byte) *tree.Node {
	t.Helper()
	n, err := tree.FromJSON(object)
	require.NoError(t, err)
	return n
}

func TestDifferences(t *testing.T) {
	const celld = "spec.template.spec.containers[celld]"
	tests := map[string]struct {
		patch string
		want  []string
	}{
		"none":             {`[]`, nil},
		"not sealed":       {`[{op: add, path: /metadata/labels/team, value: a}, {op: add, path: /spec/replicas, value: 3}, {op: add, path: /status, value: {}}]`, nil},
		"spelled otherway": {`[{op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 1024Mi}]`, nil},
		"a value":          {`[{op: replace, path: /spec/template/spec/containers/0/image, value: x}]`, []string{celld + ".image"}},
		"a key":            {`[{op: add, path: /metadata/labels/celld.eric.dev~1fleet, value: x}]`, []string{"metadata.labels[celld.eric.dev/fleet]"}},
		"another kind":     {`[{op: replace, path: /spec/template/spec/containers/0/image, value: {a: b}}]`, []string{celld + ".image"}},
		"taken away":       {`[{op: remove, path: /spec/template/spec/affinity}]`, []string{"spec.template.spec.affinity"}},
		"put there":        {`[{op: add, path: /spec/template/spec/hostNetwork, value: true}]`, []string{"spec.template.spec.hostNetwork"}},
		"item by name":     {`[{op: remove, path: /spec/template/spec/containers/0/env/0}]`, []string{celld + ".env[POD_IP]"}},
		"new item":         {`[{op: add, path: /spec/template/spec/containers/0/env/0, value: {name: A, value: b}}]`, []string{celld + ".env[A]"}},
		"another order":    {`[{op: move, from: /spec/template/spec/containers/0/env/1, path: /spec/template/spec/containers/0/env/0}]`, []string{celld + ".env"}},
		"two of one name":  {`[{op: add, path: /spec/template/spec/containers/0/env/0, value: {name: POD_IP}}]`, []string{celld + ".env[0].valueFrom", celld + ".env[1].name", celld + ".env[1].valueFrom.fieldRef.fieldPath"}},
	}
	object, _ := sealed(t, "quickstart", "StatefulSet/my-fleet")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			other := patched(t, object, tc.patch)
			got := seal.Differences(treeOf(t, object), treeOf(t, other))
			if name == "two of one name" {
				require.Subset(t, got, tc.want)
				return
			}
			require.Equal(t, tc.want, got)
			// What differs has another seal, and the other way round.
			require.Equal(t, len(tc.want) == 0, seal.OfTree(treeOf(t, object)) == seal.OfTree(treeOf(t, other)))
			require.Equal(t, len(tc.want), len(seal.Differences(treeOf(t, other), treeOf(t, object))))
		})
	}
}
