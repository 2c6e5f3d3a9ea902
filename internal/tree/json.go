// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDepth bounds how deep objects and lists may be nested; no Kubernetes object comes near it.
const MaxDepth = 200

// ErrTooDeep is returned for input that nests deeper than MaxDepth.
var ErrTooDeep = fmt.Errorf("nests deeper than %d levels", MaxDepth)

// FromJSONStream reads JSON values that follow each other, with the position of each value and key.
func FromJSONStream(raw []byte) ([]*Node, error) {
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(raw)), raw: raw, line: 1, column: 1}
	r.dec.UseNumber()
	var nodes []*Node
	for {
		token, pos, err := r.next()
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, err
		}
		n, err := r.value(token, pos, 0)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
}

type jsonReader struct {
	dec *json.Decoder
	raw []byte
	// line and column describe offset at, so that positions cost one pass in all.
	line, column, at int
}

// next returns the next token and where it starts.
func (r *jsonReader) next() (json.Token, Pos, error) {
	start := int(r.dec.InputOffset())
	for start < len(r.raw) && strings.IndexByte(" \t\r\n,:", r.raw[start]) >= 0 {
		start++
	}
	pos := r.pos(start)
	token, err := r.dec.Token()
	return token, pos, err
}

func (r *jsonReader) pos(offset int) Pos {
	for ; r.at < offset; r.at++ {
		switch c := r.raw[r.at]; {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c):
			r.column++
		}
	}
	return PosAt(r.line, r.column)
}

func (r *jsonReader) value(token json.Token, pos Pos, depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, ErrTooDeep
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(pos, depth)
		}
		return r.list(pos, depth)
	case string:
		return &Node{Kind: String, Text: t, Pos: pos}, nil
	case json.Number:
		return &Node{Kind: Number, Text: t.String(), Pos: pos}, nil
	case bool:
		return &Node{Kind: Bool, Text: strconv.FormatBool(t), Pos: pos}, nil
	default:
		return &Node{Kind: Null, Pos: pos}, nil
	}
}

func (r *jsonReader) object(pos Pos, depth int) (*Node, error) {
	n := &Node{Kind: Map, Pos: pos}
	for {
		token, keyPos, err := r.next()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return n, nil
		}
		token, valuePos, err := r.next()
		if err != nil {
			return nil, err
		}
		value, err := r.value(token, valuePos, depth+1)
		if err != nil {
			return nil, err
		}
		n.Fields = append(n.Fields, Field{Key: key, Value: value, Pos: keyPos})
	}
}

func (r *jsonReader) list(pos Pos, depth int) (*Node, error) {
	n := &Node{Kind: List, Pos: pos}
	for {
		token, itemPos, err := r.next()
		if err != nil {
			return nil, err
		}
		if token == json.Delim(']') {
			return n, nil
		}
		item, err := r.value(token, itemPos, depth+1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
}

// AppendJSON appends the canonical JSON of a node: keys sorted, no white space, no escapes but those JSON needs. Equal
// trees give equal bytes whatever the order of their keys.
func AppendJSON(b []byte, n *Node) []byte {
	switch {
	case n == nil || n.Kind == Null:
		return append(b, "null"...)
	case n.Kind == String:
		return AppendQuoted(b, n.Text)
	case n.Kind == Map:
		return appendJSONMap(b, n)
	case n.Kind == List:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, item)
		}
		return append(b, ']')
	default:
		return append(b, n.Text...)
	}
}

func appendJSONMap(b []byte, n *Node) []byte {
	var space [32]int
	order := sortedKeys(space[:0], n.Fields)
	b = append(b, '{')
	for i, at := range order {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, n.Fields[at].Key)
		b = append(b, ':')
		b = AppendJSON(b, n.Fields[at].Value)
	}
	return append(b, '}')
}

// sortedKeys appends the indexes of fields in the order of their keys, repeated keys in the order of the fields.
func sortedKeys(order []int, fields []Field) []int {
	for i := range fields {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(fields[a].Key, fields[b].Key) })
	return order
}

// AppendQuoted appends a string in double quotes, with escapes that JSON and YAML both read alike.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	if simple(s) {
		return append(append(b, s...), '"')
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case !printable(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// simple says that a string is printable ASCII without a character that quotes would have to escape.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// printable is what YAML allows outside quotes, less what editors and terminals hide or reorder: a reviewer should see
// what a file says.
func printable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r == utf8.RuneError, r == 0xfffe, r == 0xffff:
		return false
	default:
		return r < 0xa0 || r > 0xffff || !unicode.Is(unicode.Cf, r)
	}
}
