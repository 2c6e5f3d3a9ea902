// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// requireSameTree compares the two readers of JSON, positions aside. What is one
// value to the stream is one to the other, and the errors are the same.
func requireSameTree(t *testing.T, text []byte) {
	t.Helper()
	nodes, wantErr := tree.FromJSONStream(text)
	got, err := tree.FromJSON(text)
	if wantErr == nil && len(nodes) != 1 {
		require.ErrorContains(t, err, "JSON values, want one")
		return
	}
	require.Equal(t, wantErr, err)
	if err == nil {
		want := nodes[0]
		require.Equal(t, string(tree.AppendJSON(nil, want)), string(tree.AppendJSON(nil, got)))
		requireSameKinds(t, want, got)
	}
}

func requireSameKinds(t *testing.T, want, got *tree.Node) {
	t.Helper()
	require.Equal(t, want.Kind, got.Kind)
	require.Equal(t, want.Text, got.Text)
	require.Len(t, got.Fields, len(want.Fields))
	require.Len(t, got.Items, len(want.Items))
	for i := range want.Fields {
		require.Equal(t, want.Fields[i].Key, got.Fields[i].Key)
		requireSameKinds(t, want.Fields[i].Value, got.Fields[i].Value)
	}
	for i := range want.Items {
		requireSameKinds(t, want.Items[i], got.Items[i])
	}
}

var texts = []string{
	``, ` `, `{}`, `[]`, ` [ 1 , -2.50e+3, true,false ,null, "a" ] `, `{"a":{"b":[{},[]]},"a":1}`, `"\u00e9\n\"\\"`, "\"\xff\"", `{"é":"𝄞\ud834\udd1e\ud834"}`,
	`{"a"}`, `[1,]`, `{}{}`, `01`, `"`, `{"a\"b":",:[]{}"}`, `0`, `1e999`,
}

func TestFromJSONReadsWhatTheStreamReads(t *testing.T) {
	for _, text := range texts {
		requireSameTree(t, []byte(text))
	}
	files, err := filepath.Glob("../../webhook/testdata/reviews/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		requireSameTree(t, text)
	}
}

// What a Reader leaves is what FromJSON would have read there.
func requireLeft(t *testing.T, text []byte) {
	t.Helper()
	reader := tree.Reader{Leave: []string{"a"}}
	got, err := reader.Read(text)
	want, wantErr := tree.FromJSON(text)
	if wantErr != nil {
		return // what is left may be too deep
	}
	require.NoError(t, err)
	for i, field := range want.Fields {
		if is := got.Fields[i].Value; field.Key == "a" {
			require.Equal(t, tree.Raw, is.Kind)
			is, err = tree.Reader{}.ReadRaw(is)
			require.NoError(t, err)
			requireSameKinds(t, field.Value, is)
			continue
		}
		for j, inner := range field.Value.Fields {
			is := got.Fields[i].Value.Fields[j].Value
			require.Equal(t, inner.Key == "a", is.Kind == tree.Raw)
			is, err = tree.Reader{}.ReadRaw(is)
			require.NoError(t, err)
			requireSameKinds(t, inner.Value, is)
		}
	}
}

var left = []string{
	`{"m":{"n":"a","a":[{"f:x":{"b":"]}"}}],"u":"1"},"s":{}}`, "{ \"m\" : {\"a\" :\n[ ] } }", `{"s":{"m":{"a":[1]}},"a":[2]}`,
	`{"m":{"b":"a\":[","a\"":[1],"c":"a"}}`, `{"m":{"a":-1.5e3}}`, `{"m":{"a":true ,"b":1}}`, `{"m":{"a":"\\\"}","b":{"a":null}}}`,
	`{"m":{"a":1,"a":{"a":2}}}`, `[{"a":[]}]`, `{"m":{"a":{"é":"𝄞"}}}`,
}

func TestReaderLeaves(t *testing.T) {
	for _, text := range append(left, texts...) {
		requireLeft(t, []byte(text))
	}
	root, err := tree.Reader{MaxValues: 3, Leave: []string{"a"}}.Read([]byte(`{"m":{"a":[1,2,3,4,5,6],"b":1}}`))
	require.NoError(t, err)
	require.Equal(t, "[1,2,3,4,5,6]", root.Get("m", "a").Text)
	_, err = tree.Reader{MaxValues: 6}.ReadRaw(root.Get("m", "a"))
	require.ErrorIs(t, err, tree.ErrTooMany)
}

// Of the maps that Only is asked about, entries that it does not want cost nothing.
func TestReaderReadsOnly(t *testing.T) {
	const text = `{"m":{"l":{"x":1,"a":[[1]],"y":"}"},"o":{"x":1}},"n":{"l":{"x":1}},"p":[{"x":1}]}`
	only := func(outer, inner, key string) bool { return outer != "m" || inner != "l" || key == "a" }
	root, err := tree.Reader{MaxValues: 14, Only: only}.Read([]byte(text))
	require.NoError(t, err)
	require.JSONEq(t, `{"m":{"l":{"a":[[1]]},"o":{"x":1}},"n":{"l":{"x":1}},"p":[{"x":1}]}`, string(tree.AppendJSON(nil, root)))
}

func TestReaderCountsValues(t *testing.T) {
	for text, n := range map[string]int{`1`: 1, `{}`: 1, `[",,,,","[[["]`: 3, `{"a":{"b":1}}`: 3} {
		_, err := tree.Reader{MaxValues: n}.Read([]byte(text))
		require.NoError(t, err)
		if n > 1 {
			_, err = tree.Reader{MaxValues: n - 1}.Read([]byte(text))
			require.ErrorIs(t, err, tree.ErrTooMany)
		}
	}
}
