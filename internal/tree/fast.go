// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// FromJSON reads one JSON value; anything after it is an error. Numbers keep their digits, repeated keys stay repeated. Nodes
// have no positions, which makes it three times as fast as FromJSONStream: a webhook mostly reads.
func FromJSON(raw []byte) (*Node, error) {
	if json.Valid(raw) {
		return Reader{}.read(string(raw))
	}
	// The other reader knows what is wrong with it.
	nodes, err := FromJSONStream(raw)
	if err == nil {
		err = fmt.Errorf("holds %d JSON values, want one", len(nodes))
	}
	return nil, err
}

// ErrTooMany is returned for input with more values than a Reader takes.
var ErrTooMany = errors.New("holds too many values")

// A Reader reads JSON as FromJSON does, within bounds.
type Reader struct {
	// MaxValues bounds how many nodes are made; 0 is no bound.
	MaxValues int
	// Leave are keys, one or two levels down, whose values become Raw nodes: they cost a pass over their bytes and no memory.
	Leave []string
	// Only, if set, says which entries of a map two levels down are read: outer and inner are the keys that lead to the map.
	Only func(outer, inner, key string) bool
}

// Read reads one JSON value. What is not JSON takes no memory either.
func (r Reader) Read(raw []byte) (*Node, error) {
	if !json.Valid(raw) {
		return nil, json.Unmarshal(raw, new(json.RawMessage))
	}
	return r.read(string(raw))
}

// ReadRaw reads what a Raw node holds. It is valid: the node was cut out of valid JSON.
func (r Reader) ReadRaw(n *Node) (*Node, error) {
	if n.Kind != Raw {
		return n, nil
	}
	return r.read(n.Text)
}

func (r Reader) read(text string) (*Node, error) {
	p := parser{Reader: r, text: text}
	return p.value(0)
}

// parser reads text that is valid JSON. Scalars share the text, nodes are made by the hundred.
type parser struct {
	Reader
	text   string
	at     int
	path   [2]string // keys of the first two levels
	made   int
	nodes  []Node
	fields []Field // of maps that are being read, the outer ones first
	items  []*Node // of lists, likewise
}

const slab = 128

func (p *parser) node(kind Kind, text string) *Node {
	if len(p.nodes) == 0 {
		p.nodes = make([]Node, slab)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.Kind, n.Text = kind, text
	return n
}

// next skips to the next character that means something and returns it.
func (p *parser) next() byte {
	for {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			p.at++
		default:
			return c
		}
	}
}

func (p *parser) value(depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, ErrTooDeep
	}
	if p.made++; p.MaxValues > 0 && p.made > p.MaxValues {
		return nil, ErrTooMany
	}
	switch p.next() {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"':
		s, err := p.str()
		return p.node(String, s), err
	case 't':
		p.at += len("true")
		return p.node(Bool, "true"), nil
	case 'f':
		p.at += len("false")
		return p.node(Bool, "false"), nil
	case 'n':
		p.at += len("null")
		return p.node(Null, ""), nil
	default:
		start := p.at
		for p.at < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.at]) >= 0 {
			p.at++
		}
		return p.node(Number, p.text[start:p.at]), nil
	}
}

func (p *parser) object(depth int) (*Node, error) {
	p.at++
	n, height := p.node(Map, ""), len(p.fields)
	for p.next() != '}' {
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if depth == 2 && p.Only != nil && !p.Only(p.path[0], p.path[1], key) {
			p.skip()
			continue
		}
		if depth < len(p.path) {
			p.path[depth] = key
			clear(p.path[depth+1:])
		}
		var value *Node
		if depth <= 1 && slices.Contains(p.Leave, key) {
			value = p.node(Raw, p.skip())
		} else if value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.fields = append(p.fields, Field{Key: key, Value: value})
	}
	p.at++
	n.Fields = append(n.Fields, p.fields[height:]...)
	p.fields = p.fields[:height]
	return n, nil
}

func (p *parser) list(depth int) (*Node, error) {
	p.at++
	n, height := p.node(List, ""), len(p.items)
	for p.next() != ']' {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, item)
	}
	p.at++
	n.Items = append(n.Items, p.items[height:]...)
	p.items = p.items[:height]
	return n, nil
}

// skip returns the text of the next value.
func (p *parser) skip() string {
	p.next()
	start, depth := p.at, 0
	for {
		switch p.text[p.at] {
		case '"':
			p.quoted()
		case '{', '[':
			depth++
			p.at++
		case '}', ']':
			depth--
			p.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			p.at++
			continue // no value ends here
		default: // a scalar
			p.at += strings.IndexAny(p.text[p.at:], ",]} \t\r\n")
		}
		if depth == 0 {
			return p.text[start:p.at]
		}
	}
}

// str reads a string. One with escapes, or with other characters than ASCII, is left to the library.
func (p *parser) str() (string, error) {
	text, plain := p.quoted()
	if plain {
		return text[1 : len(text)-1], nil
	}
	var s string
	err := json.Unmarshal([]byte(text), &s)
	return s, err
}

// quoted returns a string with its quotes, and whether it says what it looks like.
func (p *parser) quoted() (text string, plain bool) {
	start := p.at
	plain = true
	i := start + 1
	for ; p.text[i] != '"'; i++ {
		if p.text[i] == '\\' {
			i++
			plain = false
		} else if p.text[i] >= 0x80 {
			plain = false
		}
	}
	p.at = i + 1
	return p.text[start:p.at], plain
}
