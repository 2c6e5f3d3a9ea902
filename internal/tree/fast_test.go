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
