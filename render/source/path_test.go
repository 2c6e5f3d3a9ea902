// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestLocate(t *testing.T) {
	nodes, flaws := parse("f", document{line: 1, text: []byte(`a:
  b: 1
  c.d/e: 2
  list:
  - x: 3
  - y
empty: {}
nothing:
`)})
	require.Empty(t, flaws)
	tests := map[string]tree.Pos{
		"":                 tree.PosAt(1, 1),
		"a":                tree.PosAt(1, 1),
		"a.b":              tree.PosAt(2, 6),
		"a[b]":             tree.PosAt(2, 6),
		"a[c.d/e]":         tree.PosAt(3, 10),
		"a.list":           tree.PosAt(4, 3),
		"a.list[0]":        tree.PosAt(5, 5),
		"a.list[0].x":      tree.PosAt(5, 8),
		"a.list[1]":        tree.PosAt(6, 5),
		"a.missing":        tree.PosAt(1, 1),
		"a.missing.deeper": tree.PosAt(1, 1),
		"a.list[7]":        tree.PosAt(4, 3),
		"a.list[0].z":      tree.PosAt(5, 5),
		"empty.x":          tree.PosAt(7, 1),
		"nothing":          tree.PosAt(8, 9),
		"nothing.x":        tree.PosAt(8, 9),
		"missing":          tree.PosAt(1, 1),
		"a[unclosed":       tree.PosAt(1, 1),
	}
	for path, want := range tests {
		t.Run(path, func(t *testing.T) { require.Equal(t, want, locate(nodes[0], path)) })
	}
}

func TestLocatePassesOverWhatHasNoPlace(t *testing.T) {
	nodes, _ := parse("f", document{line: 1, text: []byte("metadata:\n  name: a\n")})
	setNamespace(nodes[0], "added")
	require.Equal(t, tree.PosAt(1, 1), locate(nodes[0], "metadata.namespace"))
}

func TestTrail(t *testing.T) {
	at := trail{{key: "spec"}, {key: "env"}, {index: 2, list: true}, {key: "name"}}
	require.Equal(t, "spec.env[2].name", at.String())
	require.Equal(t, "spec.env[2].name[a.b/c]", at.key("a.b/c"))
	require.Equal(t, "spec.env[2].name", at.String(), "key leaves the trail alone")
	require.Equal(t, "[0].a", trail{{list: true}, {key: "a"}}.String())
	require.Empty(t, trail{}.String())
}

func TestWithin(t *testing.T) {
	tests := map[string]struct {
		path, above string
		want        bool
	}{
		"the same":    {"spec.env", "spec.env", true},
		"an item":     {"spec.env[0]", "spec.env", true},
		"a field":     {"spec.env.a", "spec.env", true},
		"longer name": {"spec.environment", "spec.env", false},
		"above":       {"spec", "spec.env", false},
		"beside":      {"spec.cells", "spec.env", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, within(tt.path, tt.above)) })
	}
}

func TestNearest(t *testing.T) {
	known := []string{"annotations", "env", "labels", "nodeSelector", "replicas", "runtimeImage", "url", "zones"}
	tests := map[string]string{
		"replica": "replicas", "replcias": "replicas", "Replicas": "replicas", "REPLICAS": "replicas",
		"node_selector": "nodeSelector", "nodeselector": "nodeSelector", "zone": "zones", "envs": "env",
		"image": "runtimeImage", "label": "labels", "annotation": "annotations", "uri": "url",
		"affinity": "", "x": "", "": "", "qqqqqqqqqqqqqqqqqqqqqqqq": "",
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, nearest(name, known)) })
	}
}

func TestDistance(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want int
	}{
		"equal":    {"abc", "abc", 0},
		"insert":   {"abc", "abxc", 1},
		"delete":   {"abc", "ac", 1},
		"replace":  {"abc", "axc", 1},
		"swap":     {"abc", "acb", 2},
		"nothing":  {"", "abc", 3},
		"all":      {"abc", "xyz", 3},
		"classics": {"kitten", "sitting", 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, distance(tt.a, tt.b))
			require.Equal(t, tt.want, distance(tt.b, tt.a))
		})
	}
}
