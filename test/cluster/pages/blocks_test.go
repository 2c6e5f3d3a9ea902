// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBlocks(t *testing.T) {
	page := "a\n```sh\none\ntwo\n```\n\n```text\nsaid\n```\n```yaml\na: b\n```\n```sh\nthree\n```\n```console\n$ four\n```\n"
	require.Equal(t, []block{
		{line: 3, script: "one\ntwo\n", want: "said\n", compared: true},
		{line: 14, script: "three\n"},
	}, blocksOf(page))
}

func TestPattern(t *testing.T) {
	tests := map[string]struct {
		want, said string
		matches    bool
	}{
		"the same":              {"a b\n", "a b\n", true},
		"wider columns":         {"a b\n", "a    b  \n", true},
		"another word":          {"a b\n", "a c\n", false},
		"a word more":           {"a b\n", "a b c\n", false},
		"a line more":           {"a\n", "a\nb\n", false},
		"a line less":           {"a\nb\n", "a\n", false},
		"dots for text":         {"a ... c\n", "a b d c\n", true},
		"dots within a line":    {"a ... c\n", "a\nc\n", false},
		"dots for lines":        {"a\n...\nc\n", "a\nb\nd\nc\n", true},
		"dots for no line":      {"a\n...\nc\n", "a\nc\n", true},
		"no regular expression": {"a.c (x)\n", "abc (x)\n", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.matches, pattern(tc.want).MatchString(tc.said))
		})
	}
}
