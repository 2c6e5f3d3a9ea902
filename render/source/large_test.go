// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render/source"
)

// maxDocument is what the reader takes, and the API server too.
const maxDocument = 3 << 20

const large = 50 << 20

// TestLargeFiles reads files of 50 MiB that are not what they should be: the answer is short.
func TestLargeFiles(t *testing.T) {
	garbage := make([]byte, 1<<20)
	for i, source := 0, rand.NewPCG(1, 2); i < len(garbage); i++ {
		garbage[i] = byte(source.Uint64())
	}
	printable := bytes.Map(func(r rune) rune { return ' ' + r%('~'-' ') }, bytes.Clone(garbage))
	tests := map[string]struct {
		unit     string
		problems int
		message  string
	}{
		"one document":      {"key: value\n", 1, "a document of 52428805 bytes: the API server takes 3145728 at most; a separator may be missing"},
		"one line":          {"x", 1, "a document of 524"},
		"braces":            {"{", 1, "a document of 524"},
		"zeros":             {"\x00", 1, "a NUL byte"},
		"bytes":             {string(garbage), 1, "a NUL byte"},
		"printable bytes":   {string(printable), 1, "a document of 524"},
		"words":             {"---\nword\n", 1001, "is a string, must be an object"},
		"unfinished lists":  {"---\n- [a\n", 1001, "a list whose bracket is not closed"},
		"separators":        {"--- # and nothing else, thousands of times, as long as this line is\n", 0, ""},
		"foreign documents": {"---\n{a: " + strings.Repeat("b", 1<<20) + "}\n", 50, "is no Kubernetes object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(strings.Repeat(tt.unit, large/len(tt.unit)+1))})
			if tt.problems == 0 {
				require.NoError(t, err)
				require.Empty(t, set.Documents)
				return
			}
			var problems source.Problems
			require.ErrorAs(t, err, &problems)
			require.InDelta(t, tt.problems, len(problems), 1)
			require.Contains(t, problems[0].Message, tt.message)
			require.Less(t, len(err.Error()), 250*tt.problems)
		})
	}
}

// TestManyFleets reads thousands of fleets in one stream; the benchmark says how fast.
func TestManyFleets(t *testing.T) {
	const n = 10_000
	set, err := readStdin(many(t, n))
	require.NoError(t, err)
	require.Equal(t, n, set.Fleets())
	require.Equal(t, "fleet-9999", set.Documents[n-1].ID.Name)
}

// TestDocumentsUpToTheLimit reads an object that is as large as one may be, and one that is larger.
func TestDocumentsUpToTheLimit(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: x}\n"
	fits := strings.Replace(object, "x", strings.Repeat("x", maxDocument-len(object)+1), 1)
	require.Len(t, fits, maxDocument)
	set, err := readStdin(fits)
	require.NoError(t, err)
	require.Equal(t, fits, string(set.Documents[0].Text))
	_, err = readStdin(strings.Replace(fits, "xx", "xxx", 1))
	require.ErrorContains(t, err, "a document of 3145729 bytes: the API server takes 3145728 at most")
}
