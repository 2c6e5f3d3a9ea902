// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func parse(t testing.TB, text string) *tree.Node {
	t.Helper()
	n, err := tree.FromJSON([]byte(text))
	require.NoError(t, err)
	return n
}

func TestGet(t *testing.T) {
	n := parse(t, `{"a": {"b": "text", "n": 1}, "list": [1]}`)
	require.Equal(t, "text", n.GetText("a", "b"))
	require.Equal(t, "1", n.Get("a", "n").Text)
	require.Same(t, n, n.Get())
	for _, keys := range [][]string{{"x"}, {"a", "x"}, {"a", "b", "c"}, {"list", "0"}} {
		require.Nil(t, n.Get(keys...), keys)
		require.Empty(t, n.GetText(keys...), keys)
	}
	require.Empty(t, n.GetText("a", "n"), "a number is no text")
	require.Nil(t, (*tree.Node)(nil).Get("a"))
}

// TestCopies checks that what makes a changed copy leaves the tree alone that it was made from.
func TestCopies(t *testing.T) {
	const text = `{"drop":1,"keep":{"inner":[1,2,3]}}`
	isDrop := func(key string, _ *tree.Node) bool { return key != "drop" }
	tests := map[string]struct {
		change func(*tree.Node) *tree.Node
		want   string
	}{
		"filter": {func(n *tree.Node) *tree.Node { return n.Filter(isDrop) }, `{"keep":{"inner":[1,2,3]}}`},
		"replace": {func(n *tree.Node) *tree.Node {
			return n.Replace("drop", func(*tree.Node) *tree.Node { return tree.Str("new") })
		}, `{"drop":"new","keep":{"inner":[1,2,3]}}`},
		"replace what is missing":  {func(n *tree.Node) *tree.Node { return n.Replace("x", func(*tree.Node) *tree.Node { return nil }) }, text},
		"filter what is no object": {func(n *tree.Node) *tree.Node { return n.Get("keep", "inner").Filter(isDrop) }, `[1,2,3]`},
		"replace in what is no object": {func(n *tree.Node) *tree.Node {
			return n.Get("drop").Replace("x", func(n *tree.Node) *tree.Node { return n })
		}, `1`},
		"each item of what is no list": {func(n *tree.Node) *tree.Node { return n.Get("keep").Each(func(*tree.Node) *tree.Node { return nil }) }, `{"inner":[1,2,3]}`},
		"each item, one of them dropped": {func(n *tree.Node) *tree.Node {
			return n.Get("keep", "inner").Each(func(item *tree.Node) *tree.Node {
				if item.Text == "2" {
					return nil
				}
				return tree.Str(item.Text)
			})
		}, `["1","3"]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := parse(t, text)
			require.Equal(t, tc.want, canonical(tc.change(n)))
			require.Equal(t, text, canonical(n))
		})
	}
	require.Nil(t, (*tree.Node)(nil).Filter(isDrop))
}

func TestSet(t *testing.T) {
	n := parse(t, `{"a": 1, "b": 2}`)
	n.Set("a", tree.Str("x"))
	n.Set("c", tree.Str("y"))
	require.Equal(t, "a: x\nb: 2\nc: \"y\"\n", string(tree.AppendYAML(nil, n)))
}

func TestSetSorted(t *testing.T) {
	n := &tree.Node{Kind: tree.Map}
	for _, key := range []string{"c", "a", "b", "a", "d"} {
		n.SetSorted(key, tree.Str("value "+key))
	}
	require.Equal(t, "a: value a\nb: value b\nc: value c\nd: value d\n", string(tree.AppendYAML(nil, n)))
}

func TestWalk(t *testing.T) {
	n := parse(t, `{"a": [1, {"b": 2}], "c": 3}`)
	var seen []string
	all := func(n *tree.Node) bool { seen = append(seen, n.Kind.String()+" "+n.Text); return true }
	require.True(t, n.Walk(all))
	require.Equal(t, []string{"an object ", "a list ", "a number 1", "an object ", "a number 2", "a number 3"}, seen)
	for _, stop := range []string{"1", "2", "3"} {
		require.False(t, n.Walk(func(n *tree.Node) bool { return n.Text != stop }))
	}
	require.True(t, (*tree.Node)(nil).Walk(func(*tree.Node) bool { return false }))
}

func TestPosAt(t *testing.T) {
	require.Equal(t, tree.Pos{Line: 3, Column: 4}, tree.PosAt(3, 4))
	require.Equal(t, tree.Pos{Line: math.MaxInt32, Column: math.MaxInt32}, tree.PosAt(math.MaxInt32+1, math.MaxInt64))
}

func TestID(t *testing.T) {
	tests := map[string]struct{ object, text, file string }{
		"core":           {`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"b"}}`, "Service b/a", "b_service_a.yaml"},
		"group":          {`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"a","namespace":"b"}}`, "StatefulSet b/a", "b_statefulset_a.yaml"},
		"no namespace":   {`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}`, "Namespace a", "namespace_a.yaml"},
		"hostile name":   {`{"apiVersion":"v1","kind":"X","metadata":{"name":"../../a"}}`, "X ../../a", "x_.._.._a.yaml"},
		"nothing of it":  {`{}`, " ", "_.yaml"},
		"not an object":  {`[]`, " ", "_.yaml"},
		"odd metadata":   {`{"kind":"X","metadata":"a"}`, "X ", "x_.yaml"},
		"capitals":       {`{"kind":"ClusterRole","metadata":{"name":"System:A"}}`, "ClusterRole System:A", "clusterrole_system-a-1912967aea.yaml"},
		"small letters":  {`{"kind":"ClusterRole","metadata":{"name":"system:a"}}`, "ClusterRole system:a", "clusterrole_system-a-2a896e4ca6.yaml"},
		"a NUL":          {`{"kind":"X","metadata":{"name":"a\u0000"}}`, "X a\x00", "x_a--a67ed88bfb.yaml"},
		"name no string": {`{"kind":"X","metadata":{"name":1}}`, "X ", "x_.yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			id := tree.IDOf(parse(t, tc.object))
			require.Equal(t, tc.text, id.String())
			require.Equal(t, tc.file, id.FileName(false))
		})
	}
	long := tree.ID{Kind: "X", Name: strings.Repeat("a", 300)}.FileName(false)
	require.Len(t, long, 200)
	require.Equal(t, "b_service.example.com_a.yaml", tree.ID{Group: "example.com", Kind: "Service", Namespace: "b", Name: "a"}.FileName(true))
	require.Equal(t, "b_service_a.yaml", tree.ID{Kind: "Service", Namespace: "b", Name: "a"}.FileName(true))
	group := func(apiVersion string) string { return tree.IDOf(field("apiVersion", tree.Str(apiVersion))).Group }
	require.Empty(t, group("v1"))
	require.Equal(t, "apps", group("apps/v1"))
}
