// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestScalarsInYAML(t *testing.T) {
	tests := map[string]struct {
		plain  []string
		quoted []string
	}{
		"words that YAML 1.1 or 1.2 converts": {
			plain:  []string{"nulls", "untrue", "Yes!", "none", "north", "onward", "y2", "not"},
			quoted: []string{"null", "Null", "~", "true", "FALSE", "yes", "No", "on", "OFF", "y", "N", "<<", "=", ""},
		},
		"numbers": {
			plain: []string{"250m", "10Gi", "1.2.3", "0x", "0xfg", "1e", "e3", "10%", "10.0.0.0/8", "-a", "+", "0b2", "1-2", "infinity", "nan"},
			quoted: []string{"0", "3", "-1", "+1", "1.5", ".5", "1.", "1e3", "1E-3", "0644", "0o644", "08", "0x1F", "-0x1f", "0b101", "0o-0", "0b+1",
				"1_000", "-_1", "0_x1f", ".inf", "-.Inf", ".NAN", "12:30:45", "1:2", "18446744073709551616"},
		},
		"times": {
			plain:  []string{"2001-01", "2001-01-01T", "us-east-1", "20010101a", "2001-01-01-02"},
			quoted: []string{"2001-01-01", "2001-1-1", "2001-01-01T00:00:00Z", "2001-01-01 00:00:00 +1"},
		},
		"what Kubernetes objects hold": {
			plain: []string{"$(CELLD_NODE).my-fleet-peers.fleets.svc:8081", "s3://my-bucket/prefix", "0.0.0.0:8080", "/work", "a=b,c=d",
				"ghcr.io/ewhauser/celld@sha256:00", "celld.eric.dev/fleet-uid", "${HOME}", "v1 full=0 owned=0"},
			quoted: []string{"*.example.com", "@every 1h", "{}", "[a]", "&a", "!a", "%a", "`a`", "|", ">", "'a'", `"a"`, "#a", ",a"},
		},
		"marks": {
			plain:  []string{"-a", "a-", "a--b", "a:b", "a#b", "8080/tcp", "a?", "a b"},
			quoted: []string{"-", "- a", "--", "---", "a---", "...", "?", ":", "a: b", "a:", "a #b", " a", "a ", ":8080", "?a"},
		},
		"what people cannot see": {
			plain:  []string{"é", "名前", "🚀", "\u00a0x"},
			quoted: []string{"\ta", "a\tb", "\x00", "\x1b[31m", "\u007f", "\u0085", "\u2028", "\ufeffa", "\u202ea", "a\u200bb", "\u00ad"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, s := range tc.plain {
				require.Equal(t, s+"\n", string(tree.AppendYAML(nil, tree.Str(s))))
			}
			for _, s := range tc.quoted {
				require.Equal(t, string(tree.AppendQuoted(nil, s))+"\n", string(tree.AppendYAML(nil, tree.Str(s))))
			}
		})
	}
}

func TestQuotedIsASCIIForWhatIsHidden(t *testing.T) {
	require.Equal(t, `"\u0000\u001b\t\n\r\"\\\u007f\u0085\u200b\u202e\u2028\ufeff\ufffd\uffff é🚀"`,
		string(tree.AppendQuoted(nil, "\x00\x1b\t\n\r\"\\\u007f\u0085\u200b\u202e\u2028\ufeff\ufffd\uffff é🚀")))
	require.Equal(t, `"\ufffd"`, string(tree.AppendQuoted(nil, "\xff")), "what is not UTF-8 is replaced, as encoding/json does")
}

func TestLayoutOfYAML(t *testing.T) {
	input, err := tree.FromJSON([]byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {}},
		"list": [1, "two", null, true, [], {}, [["deep"], []], {"a": 1, "b": [{"c": "d"}]}, "text\nof lines\n"],
		"clip": "one\n\n  two\n", "strip": "one\n#two", "keep": "a\n\n", "spaces": "a \nb", "tabs": "a\n\tb", "yes": "no",
		"a: b": 1}`))
	require.NoError(t, err)
	require.Equal(t, `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {}
list:
- 1
- two
- null
- true
- []
- {}
- - - deep
  - []
- a: 1
  b:
  - c: d
- |
  text
  of lines
clip: |
  one

    two
strip: |-
  one
  #two
keep: "a\n\n"
spaces: "a \nb"
tabs: "a\n\tb"
"yes": "no"
"a: b": 1
`, string(tree.AppendYAML(nil, input)))
}

func TestTextAtTheTop(t *testing.T) {
	require.Equal(t, "|-\n  ---\n  a\n", string(tree.AppendYAML(nil, tree.Str("---\na"))))
	require.Equal(t, "- |\n  ---\n", string(tree.AppendYAML(nil, &tree.Node{Kind: tree.List, Items: []*tree.Node{tree.Str("---\n")}})))
	require.Equal(t, "[]\n", string(tree.AppendYAML(nil, &tree.Node{Kind: tree.List})))
	require.Equal(t, "null\n", string(tree.AppendYAML(nil, &tree.Node{})))
}

func TestKeysOfAnyLength(t *testing.T) {
	for _, key := range []string{strings.Repeat("k", 1024), strings.Repeat("k", 1025), strings.Repeat("\u200b", 1000), strings.Repeat("- ", 5000)} {
		want := field("outer", field(key, field("inner", tree.Str("value"))))
		want.Get("outer").Set("other", tree.Str("x"))
		text := tree.AppendYAML(nil, want)
		require.Empty(t, disagreement(text, want), "%s", text)
	}
}
