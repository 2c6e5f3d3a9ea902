// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AppendYAML appends a node as a YAML document without a separator: block style, two spaces, lists at the column of their
// key, strings in quotes only where YAML 1.1 or 1.2 would read something else.
func AppendYAML(b []byte, n *Node) []byte {
	w := yamlWriter{b: b}
	switch {
	case n.Kind == Map && len(n.Fields) > 0:
		w.fields(n, 0)
	case n.Kind == List && len(n.Items) > 0:
		w.items(n, 0)
	default:
		w.scalar(n, 2) // a block is indented even at the top
		w.b = append(w.b, '\n')
	}
	return w.b
}

// maxSimpleKey is how far readers look ahead for the colon of a key, in bytes.
const maxSimpleKey = 1024

type yamlWriter struct {
	b []byte
}

func (w *yamlWriter) indent(n int) {
	for range n {
		w.b = append(w.b, ' ')
	}
}

// fields writes a map; the cursor stands where its first key goes.
func (w *yamlWriter) fields(n *Node, column int) {
	for i, f := range n.Fields {
		if i > 0 {
			w.indent(column)
		}
		at := len(w.b)
		w.b = appendString(w.b, f.Key)
		if len(w.b)-at > maxSimpleKey {
			w.b = append(slices.Insert(w.b, at, '?', ' '), '\n')
			w.indent(column)
		}
		w.b = append(w.b, ':')
		w.value(f.Value, column)
	}
}

// value writes what follows a key's colon, up to the end of its last line.
func (w *yamlWriter) value(n *Node, column int) {
	switch {
	case n.Kind == Map && len(n.Fields) > 0:
		w.b = append(w.b, '\n')
		w.indent(column + 2)
		w.fields(n, column+2)
	case n.Kind == List && len(n.Items) > 0:
		w.b = append(w.b, '\n')
		w.indent(column)
		w.items(n, column)
	default:
		w.b = append(w.b, ' ')
		w.scalar(n, column+2)
		w.b = append(w.b, '\n')
	}
}

// items writes a list; the cursor stands where its first dash goes.
func (w *yamlWriter) items(n *Node, column int) {
	for i, item := range n.Items {
		if i > 0 {
			w.indent(column)
		}
		w.b = append(w.b, '-', ' ')
		switch {
		case item.Kind == Map && len(item.Fields) > 0:
			w.fields(item, column+2)
		case item.Kind == List && len(item.Items) > 0:
			w.items(item, column+2)
		default:
			w.scalar(item, column+2)
			w.b = append(w.b, '\n')
		}
	}
}

// scalar writes a value that fits on the line, or a block of text indented to column.
func (w *yamlWriter) scalar(n *Node, column int) {
	switch {
	case n.Kind == Null:
		w.b = append(w.b, "null"...)
	case n.Kind == Map:
		w.b = append(w.b, "{}"...)
	case n.Kind == List:
		w.b = append(w.b, "[]"...)
	case n.Kind == String && literal(n.Text):
		w.block(n.Text, column)
	case n.Kind == String:
		w.b = appendString(w.b, n.Text)
	default:
		w.b = append(w.b, n.Text...)
	}
}

// literal says whether text of several lines can stand in a block, so that every reader gets it back as it was.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == '\n' || s[0] == ' ' || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for _, r := range s {
		if r != '\n' && !printable(r) {
			return false
		}
	}
	return !strings.Contains(s, " \n") && !strings.HasSuffix(s, " ")
}

func (w *yamlWriter) block(s string, column int) {
	w.b = append(w.b, '|')
	if !strings.HasSuffix(s, "\n") {
		w.b = append(w.b, '-')
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		w.b = append(w.b, '\n')
		if line != "" {
			w.indent(column)
			w.b = append(w.b, line...)
		}
	}
}

func appendString(b []byte, s string) []byte {
	if needsQuotes(s) {
		return AppendQuoted(b, s)
	}
	return append(b, s...)
}

// needsQuotes says whether a string would be read as something else, or not at all, without quotes.
func needsQuotes(s string) bool {
	if s == "" || Ambiguous(s) || strings.HasPrefix(s, "...") || strings.HasSuffix(s, "---") {
		return true
	}
	if s[0] == '-' && (len(s) == 1 || s[1] == ' ' || s[1] == '-') || strings.IndexByte("?:,[]{}#&*!|>'\"%@` ", s[0]) >= 0 {
		return true
	}
	if last := s[len(s)-1]; last == ' ' || last == ':' {
		return true
	}
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && (s[i+1] == '#' || s[i-1] == ':'):
			return true
		case c < ' ' || c > '~':
			ascii = false
		}
	}
	return !ascii && strings.ContainsFunc(s, func(r rune) bool { return !printable(r) })
}

// Ambiguous says whether a plain scalar is, to some YAML 1.1 or 1.2 reader, something other than a string.
func Ambiguous(s string) bool {
	if s == "" {
		return true
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		switch dots := strings.Count(s, "."); {
		case strings.Count(s, "-") > maxDashes, dots > 1 && !strings.Contains(s, "-"):
			return false
		case strings.Trim(s, "0123456789") == "": // most of them: the rest is for the matcher
			return true
		}
		// Some readers drop underscores wherever they stand before they look at a number.
		return numberLike().MatchString(s) ||
			strings.Contains(s, "_") && numberLike().MatchString(strings.ReplaceAll(s, "_", ""))
	case strings.IndexByte("nNyYtTfFoO~<=", c) >= 0 && len(s) <= 5:
		return words[strings.ToLower(s)]
	default:
		return false
	}
}

// maxDashes is how many dashes a number or a time can have: a date two, a zone behind it one. A UUID has four. Dots have
// numbers at most one, but a time may end in anything.
const maxDashes = 3

var words = map[string]bool{
	"null": true, "~": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true,
	"n": true, "<<": true, "=": true,
}

// numberLike matches what YAML 1.1 or 1.2, or a common reader of either, takes for a number or a time.
var numberLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-+]?(?:0[bB][-+]?[01_]+|0[oO][-+]?[0-7_]+|0[0-7_]+|0[xX][0-9a-fA-F_]+|` +
		`[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|` +
		`(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][-+]?[0-9_]+)?|` +
		`\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)|` +
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9].*)?)$`)
})
