// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// FuzzFromJSON reads any bytes without a panic, accepts what encoding/json accepts, and reads its own output back.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":8080}],"clusterIP":null}}`, `[1.5e3,-0,true,"\ud800\u0000"]`,
		"{\"a\":1}\n{\"b\":2}", `{"a":{"a":{"a":[[[]]]}}}`, "\xff\xfe", `{"a":1,"a":2}`, " \t\r\n", `"`, "",
	} {
		f.Add([]byte(seed))
	}
	for _, seed := range append(left, texts...) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		requireSameTree(t, raw)
		requireLeft(t, raw)
		n, err := tree.FromJSON(raw)
		if err != nil {
			require.Nil(t, n)
			return
		}
		require.True(t, json.Valid(raw), "%q", raw)
		text := tree.AppendJSON(nil, n)
		require.True(t, json.Valid(text), "%q", text)
		back, err := tree.FromJSON(text)
		require.NoError(t, err)
		require.Equal(t, string(text), canonical(back))
		nodes, err := tree.FromJSONStream(raw)
		require.NoError(t, err)
		nodes[0].Walk(func(n *tree.Node) bool {
			require.Positive(t, n.Pos.Line)
			require.Positive(t, n.Pos.Column)
			return true
		})
	})
}

// FuzzAppendYAML prints strings as value, item and key, and every reader gets them back.
func FuzzAppendYAML(f *testing.F) {
	for _, s := range traps {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?") // readers of input make sure that objects hold UTF-8
		list := &tree.Node{Kind: tree.List, Items: []*tree.Node{tree.Str(s), field("deeper", tree.Str(s))}}
		want := field("object", field(s, list))
		want.Set("value", tree.Str(s))
		text := tree.AppendYAML(nil, want)
		require.Empty(t, disagreement(text, want), "%s", text)
	})
}
