// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestCanonicalJSON(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"keys are sorted at every level":     {`{"b": {"d": 1, "c": 2}, "a": [{"f": 1, "e": 2}]}`, `{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}`},
		"numbers keep their digits":          {`[1.0, 1e3, 18446744073709551616, -0]`, `[1.0,1e3,18446744073709551616,-0]`},
		"strings have one spelling":          {`"\u003c\/\u00e9\ud83d\ude80\u0001"`, `"</é🚀\u0001"`},
		"broken surrogates become one thing": {`"\ud800x"`, `"\ufffdx"`},
		"words":                              {` [ true , false , null ] `, `[true,false,null]`},
		"nothing in it":                      {`{"a": {}, "b": [], "c": ""}`, `{"a":{},"b":[],"c":""}`},
		"repeated keys stay, in their order": {`{"b": 1, "a": 2, "b": 0}`, `{"a":2,"b":1,"b":0}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := tree.FromJSON([]byte(tc.in))
			require.NoError(t, err)
			require.Equal(t, tc.want, canonical(n))
		})
	}
	require.Equal(t, "null", canonical(nil))

	repeated := &tree.Node{Kind: tree.Map}
	for i := range 40 {
		repeated.Fields = append(repeated.Fields, tree.Field{Key: string(rune('b' - i%2)), Value: &tree.Node{Kind: tree.Number, Text: strconv.Itoa(i)}})
	}
	require.True(t, strings.HasPrefix(canonical(repeated), `{"a":1,"a":3,"a":5,"a":7,"a":9,"a":11,`), canonical(repeated))
}

func TestCanonicalJSONDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodeGen(3).Draw(t, "tree")
		want := canonical(n)
		require.Equal(t, want, canonical(shuffle(n, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))))
		back, err := tree.FromJSON([]byte(want))
		require.NoError(t, err)
		require.Equal(t, want, canonical(back))

		var value, again any
		require.NoError(t, json.Unmarshal([]byte(want), &value), "canonical JSON is JSON")
		marshalled, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(marshalled, &again))
		require.Equal(t, value, again)
	})
}

func shuffle(n *tree.Node, r *rand.Rand) *tree.Node {
	out := *n
	out.Fields = make([]tree.Field, len(n.Fields))
	for i, at := range r.Perm(len(n.Fields)) {
		out.Fields[i] = tree.Field{Key: n.Fields[at].Key, Value: shuffle(n.Fields[at].Value, r)}
	}
	return out.Each(func(item *tree.Node) *tree.Node { return shuffle(item, r) })
}

func TestPositionsInJSON(t *testing.T) {
	text := "{\n  \"é\": 1, \"list\": [true,\n    {\"k\" : \"v\"}\n  ]\n}\n  \"next\""
	nodes, err := tree.FromJSONStream([]byte(text))
	require.NoError(t, err)
	require.Len(t, nodes, 2)
	list := nodes[0].Get("list")
	got := map[string]tree.Pos{
		"object": nodes[0].Pos, "é": nodes[0].Fields[0].Pos, "1": nodes[0].Get("é").Pos, "list": nodes[0].Fields[1].Pos,
		"[": list.Pos, "true": list.Items[0].Pos, "{": list.Items[1].Pos, "k": list.Items[1].Fields[0].Pos,
		"v": list.Items[1].Get("k").Pos, "next": nodes[1].Pos,
	}
	require.Equal(t, map[string]tree.Pos{
		"object": {Line: 1, Column: 1}, "é": {Line: 2, Column: 3}, "1": {Line: 2, Column: 8}, "list": {Line: 2, Column: 11},
		"[": {Line: 2, Column: 19}, "true": {Line: 2, Column: 20}, "{": {Line: 3, Column: 5}, "k": {Line: 3, Column: 6},
		"v": {Line: 3, Column: 12}, "next": {Line: 6, Column: 3},
	}, got)
}

func TestJSONErrors(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", "[", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `[1,]`, `[,1]`, `[1 2]`, `{,}`,
		`{"a":1}}`, `{"a":1}x`, `{} {}`, `tru`, `nul`, `01`, `+1`, `.5`, `'a'`, "\"a\nb\"", `"\x"`, `"a`, "\x00", "{]", "[}",
	} {
		_, err := tree.FromJSON([]byte(text))
		require.Error(t, err, "%q", text)
	}
	_, err := tree.FromJSON([]byte(strings.Repeat("[", tree.MaxDepth+2) + strings.Repeat("]", tree.MaxDepth+2)))
	require.ErrorIs(t, err, tree.ErrTooDeep)
	_, err = tree.FromJSON([]byte(strings.Repeat("[", tree.MaxDepth+1) + strings.Repeat("]", tree.MaxDepth+1)))
	require.NoError(t, err)
	_, err = tree.FromJSON([]byte(strings.Repeat(`{"a":`, 1_000_000)))
	require.ErrorIs(t, err, tree.ErrTooDeep)
}

// TestLongLinesOfJSON would take minutes if each position were counted from the start of its line.
func TestLongLinesOfJSON(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(`[`)
	for i := range 100_000 {
		fmt.Fprintf(&text, `{"name":"value %d"},`, i)
	}
	text.WriteString(`0]`)
	nodes, err := tree.FromJSONStream(text.Bytes())
	require.NoError(t, err)
	n := nodes[0]
	require.Equal(t, int32(text.Len()-1), n.Items[100_000].Pos.Column)
}
