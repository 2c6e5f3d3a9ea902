// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestSplit(t *testing.T) {
	type doc struct {
		line int
		text string
	}
	tests := map[string]struct {
		in   string
		want []doc
	}{
		"nothing":                        {"", []doc{{1, ""}}},
		"one":                            {"a: b\n", []doc{{1, "a: b\n"}}},
		"no line end":                    {"a: b", []doc{{1, "a: b"}}},
		"two":                            {"a: b\n---\nc: d\n", []doc{{1, "a: b\n"}, {2, "---\nc: d\n"}}},
		"separator first":                {"---\na: b\n", []doc{{1, "---\na: b\n"}}},
		"separator last":                 {"a: b\n---", []doc{{1, "a: b\n"}, {2, "---"}}},
		"separators":                     {"---\n---\n", []doc{{1, "---\n"}, {2, "---\n"}}},
		"comment on the separator":       {"a: b\n--- # c\nd: e\n", []doc{{1, "a: b\n"}, {2, "--- # c\nd: e\n"}}},
		"value on the separator":         {"a: b\n--- {c: d}\n", []doc{{1, "a: b\n"}, {2, "--- {c: d}\n"}}},
		"CRLF":                           {"a: b\r\n---\r\nc: d\r\n", []doc{{1, "a: b\r\n"}, {2, "---\r\nc: d\r\n"}}},
		"byte order mark on a separator": {"a: b\n\ufeff---\nc: d\n", []doc{{1, "a: b\n"}, {2, "\ufeff---\nc: d\n"}}},
		"inside a block":                 {"a: |\n  b\n---\n  c\n", []doc{{1, "a: |\n  b\n"}, {3, "---\n  c\n"}}},
		"indented dashes":                {"a: |\n  ---\n", []doc{{1, "a: |\n  ---\n"}}},
		"glued dashes":                   {"---a\nb---\n----\n", []doc{{1, "---a\nb---\n----\n"}}},
		"end of a document":              {"a: b\n...\nc: d\n", []doc{{1, "a: b\n...\n"}, {3, "c: d\n"}}},
		"end and separator":              {"a: b\n...\n---\nc: d\n", []doc{{1, "a: b\n...\n"}, {3, "---\nc: d\n"}}},
		"end last":                       {"a: b\n...", []doc{{1, "a: b\n..."}, {3, ""}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []doc
			for d := range split([]byte(tt.in)) {
				got = append(got, doc{d.line, string(d.text)})
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestSplitStops(t *testing.T) {
	n := 0
	for range split([]byte(strings.Repeat("---\n...\n", 5))) {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

func TestBlankAndBody(t *testing.T) {
	tests := map[string]struct {
		text  string
		blank bool
		body  string
	}{
		"nothing":            {"", true, ""},
		"comments":           {"---\n# a\n\n  # b\n...\n", true, "# a\n\n  # b\n...\n"},
		"separator":          {"---\na: b\n", false, "a: b\n"},
		"spaced separator":   {"--- \t\r\na: b\n", false, "a: b\n"},
		"commented":          {"--- # c\na: b\n", false, "a: b\n"},
		"value on the line":  {"--- a\n", false, "--- a\n"},
		"text on the line":   {"--- |\n a\n", false, "--- |\n a\n"},
		"only on the line":   {"--- {a: b}", false, "--- {a: b}"},
		"marks":              {"\ufeff---\n\ufeffa: b\n", false, "a: b\n"},
		"mark alone":         {"\ufeff", true, ""},
		"null is not blank":  {"~", false, "~"},
		"comment and object": {"# c\na: b\n", false, "# c\na: b\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := document{text: []byte(tt.text), line: 1}
			require.Equal(t, tt.blank, d.blank())
			require.Equal(t, tt.body, string(d.body()))
		})
	}
}

func TestPosition(t *testing.T) {
	tests := map[string]struct {
		text   string
		offset int
		want   tree.Pos
	}{
		"start":                  {"abc", 0, tree.PosAt(5, 1)},
		"end":                    {"abc", 3, tree.PosAt(5, 4)},
		"second line":            {"a\nbc", 3, tree.PosAt(6, 2)},
		"characters, not bytes":  {"äöü", 4, tree.PosAt(5, 3)},
		"mark does not count":    {"\ufeffab", 4, tree.PosAt(5, 2)},
		"line end belongs to it": {"a\nb", 1, tree.PosAt(5, 2)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, document{text: []byte(tt.text), line: 5}.position(tt.offset))
		})
	}
}
