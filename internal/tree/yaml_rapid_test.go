// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// traps are strings that some YAML reader takes for something else, or cannot read at all, when they stand without quotes.
var traps = []string{
	"", "~", "null", "Null", "NULL", "true", "True", "yes", "no", "On", "off", "y", "N", "=", "<<", "nULL",
	"0", "-1", "+1", "1.5", ".5", "1.", "1e3", "1E-3", "0644", "0o644", "0x1F", "0b101", "1_000", "-0x_1", "08", "12:30:45",
	".inf", "-.INF", ".nan", "2001-01-01", "2001-1-1", "2001-01-01T00:00:00Z", "2001-01-01 00:00:00", "1e400", "1_",
	"-", "- a", "--", "---", "--- a", "...", "... a", "a---", "?", "? a", "?a", ":", ": a", ":a", "a:", "a: b", "a:b", "a #b", "a#b",
	"#a", "&a", "*a", "!a", "|", ">", "|-", "'a'", `"a"`, "%a", "@a", "`a", "{}", "[]", "{a", "[a", ", a", "]", "}",
	" a", "a ", " ", "a\n", "a\nb", "\na", "a\n\n", "a\n b\n", " a\nb", "a \nb", "a\tb", "\t", "\ta\nb", "a\r\nb", "\r", "a\n---\nb",
	"a\n\nb", "a\n#b\n", "#a\nb", "\\", `a\nb`, `"`, "'", "a'b", `a"b`, "\x00", "\x1b[31m", "\u007f", "\u0085", "\u00a0",
	"\u2028", "\ufeffa", "\u202egpj.exe", "\u200b", "\ufffd", "\ufffe", "é", "名前", "🚀", "\U0001fffe", "${HOME}", "$(POD_IP):8081",
	"10Gi", "250m", "10%", "1.2.3", "10.0.0.0/8", "::1", "fd00::/8", "s3://bucket/prefix", "v1", "e3", "0x", "1e", "host:8080",
}

func stringGen() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(traps),
		rapid.StringOfN(rapid.RuneFrom([]rune(" -:#?,[]{}&*!|>'\"%@`\\\n\tabnyx0179._+~=<eEtTZ/")), 0, 12, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("0123456789.-+:_eExobTZ ")), 1, 12, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("line one\n \n# -")), 1, 40, -1),
		rapid.String(),
	)
}

func scalarGen() *rapid.Generator[*tree.Node] {
	return rapid.OneOf(
		rapid.Map(stringGen(), tree.Str),
		rapid.Map(rapid.Int64(), func(i int64) *tree.Node { return &tree.Node{Kind: tree.Number, Text: strconv.FormatInt(i, 10)} }),
		rapid.Map(rapid.Bool(), func(b bool) *tree.Node { return &tree.Node{Kind: tree.Bool, Text: strconv.FormatBool(b)} }),
		rapid.Just(&tree.Node{}),
	)
}

func nodeGen(depth int) *rapid.Generator[*tree.Node] {
	if depth == 0 {
		return scalarGen()
	}
	return rapid.Custom(func(t *rapid.T) *tree.Node {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return scalarGen().Draw(t, "scalar")
		case 1:
			return &tree.Node{Kind: tree.List, Items: rapid.SliceOfN(nodeGen(depth-1), 0, 4).Draw(t, "items")}
		default:
			n := &tree.Node{Kind: tree.Map}
			for _, key := range rapid.SliceOfNDistinct(stringGen(), 0, 5, rapid.ID[string]).Draw(t, "keys") {
				n.Fields = append(n.Fields, tree.Field{Key: key, Value: nodeGen(depth-1).Draw(t, "value")})
			}
			return n
		}
	})
}

func TestYAMLIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := nodeGen(3).Draw(t, "tree")
		text := tree.AppendYAML(nil, want)
		require.Empty(t, disagreement(text, want), "%s", text)
		ordered, err := yamlReaders["yaml/v3"](text)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, ordered, cmpopts.IgnoreFields(tree.Node{}, "Pos", "Plain"), cmpopts.EquateEmpty()))
		require.True(t, strings.HasSuffix(string(text), "\n"))
		for _, r := range string(text) {
			require.True(t, r == '\n' || !unicode.IsControl(r), "%q in %s", r, text)
		}
		for line := range strings.Lines(string(text)) {
			require.False(t, strings.HasSuffix(line, " \n"), "%q", line)
			require.False(t, strings.HasPrefix(line, "---") || strings.HasPrefix(line, "..."), "%q would end the document", line)
		}
	})
}

// TestQuotesOnlyWhereNeeded puts strings behind a key, into a list and before a colon: they come out plain exactly when all
// readers read them as that string, but for those that keepsQuotes names.
func TestQuotesOnlyWhereNeeded(t *testing.T) {
	check := func(t require.TestingT, s string) {
		if strings.Contains(s, "\n") {
			return
		}
		got := string(tree.AppendYAML(nil, tree.Str(s)))
		plain := got == s+"\n"
		agreed := disagreement([]byte("k: "+s+"\n"), field("k", tree.Str(s))) == "" &&
			disagreement([]byte("- "+s+"\n"), &tree.Node{Kind: tree.List, Items: []*tree.Node{tree.Str(s)}}) == "" &&
			disagreement([]byte(s+": v\n"), field(s, tree.Str("v"))) == ""
		if plain {
			require.True(t, agreed, "%q needs quotes", s)
		} else if agreed {
			require.NotEmpty(t, keepsQuotes(s), "%q is in quotes without a reason: %s", s, got)
		}
	}
	for _, s := range traps {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, stringGen().Draw(t, "string")) })
}

// keepsQuotes says why a string is printed in quotes although the readers of this test do not need them.
func keepsQuotes(s string) string {
	switch {
	case tree.Ambiguous(s):
		return "it looks like a number, a time or a word that readers in other languages may convert"
	case strings.HasPrefix(s, "...") || strings.HasPrefix(s, "--") || strings.HasSuffix(s, "---"):
		return "a reader that looks for document marks line by line could find one"
	case s[0] == '?' || s[0] == ':':
		return "a space after it would make it a key or a value"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Cf, r) || unicode.IsControl(r) }):
		return "people could not see it"
	case strings.ContainsAny(s, "\u2028\u2029\ufffd\ufffe\uffff"):
		return "YAML 1.1 and 1.2 disagree on what it is"
	default:
		return ""
	}
}

func field(key string, value *tree.Node) *tree.Node {
	return &tree.Node{Kind: tree.Map, Fields: []tree.Field{{Key: key, Value: value}}}
}
