// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxNodes bounds what aliases may expand to: no object that the API server takes has as many values.
const maxNodes = 200_000

// A converter makes a tree of the YAML library's nodes, with every alias and merge key expanded.
type converter struct {
	file  string
	line  int // added to each position
	nodes int
	at    trail
	open  map[*yaml.Node]bool // anchors that are being expanded
	alias *yaml.Node          // the outermost alias that is being expanded
	flaws []flaw
}

// convert returns the tree of a node, nil when it is too large for one. The line is added to those of the node.
func convert(file string, line int, n *yaml.Node) (*tree.Node, []flaw) {
	c := &converter{file: file, line: line, open: map[*yaml.Node]bool{}}
	out := c.node(n, 0)
	if c.nodes > maxNodes {
		return nil, c.flaws
	}
	return out, c.flaws
}

func (c *converter) pos(n *yaml.Node) tree.Pos { return tree.PosAt(n.Line+c.line, n.Column) }

// fail records a flaw and returns what stands for the value.
func (c *converter) fail(n *yaml.Node, lenient bool, format string, args ...any) *tree.Node {
	out := &tree.Node{Kind: tree.Null, Pos: c.pos(n)}
	p := Problem{File: c.file, Pos: Pos(out.Pos), Field: c.at.String(), Message: fmt.Sprintf(format, args...)}
	c.add(flaw{Problem: p, lenient: lenient, node: out})
	return out
}

// add records a flaw, at most once for a place and a message: an anchor may be read many times.
func (c *converter) add(f flaw) {
	if len(c.flaws) >= maxProblems || c.nodes > maxNodes && len(c.flaws) > 0 {
		return
	}
	for _, other := range c.flaws {
		if other.Pos == f.Pos && other.Message == f.Message {
			f.repeated = true
		}
	}
	c.flaws = append(c.flaws, f)
}

func (c *converter) node(n *yaml.Node, depth int) *tree.Node {
	c.nodes++
	switch {
	case c.nodes > maxNodes:
		return c.tooLarge(n)
	case depth > tree.MaxDepth:
		return c.fail(n, false, "%v, and no Kubernetes object does", tree.ErrTooDeep)
	}
	if n.Anchor != "" && !c.open[n] {
		c.open[n] = true
		defer delete(c.open, n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		out := &tree.Node{Kind: tree.List, Pos: c.pos(n), Items: make([]*tree.Node, len(n.Content))}
		for i, item := range n.Content {
			c.at = append(c.at, step{index: i, list: true})
			out.Items[i] = c.node(item, depth+1)
			c.at = c.at[:len(c.at)-1]
		}
		return out
	case yaml.AliasNode:
		return c.expand(n, depth)
	default:
		return c.scalar(n)
	}
}

// tooLarge ends the conversion, and is the only flaw of it.
func (c *converter) tooLarge(n *yaml.Node) *tree.Node {
	if c.nodes > maxNodes+1 {
		return &tree.Node{Kind: tree.Null}
	}
	c.flaws = nil
	if c.alias == nil {
		return c.fail(n, false, "holds more than %d values, and no Kubernetes object does", maxNodes)
	}
	return c.fail(c.alias, false, "aliases expand to more than %d values: write the values out", maxNodes)
}

func (c *converter) expand(n *yaml.Node, depth int) *tree.Node {
	if c.open[n.Alias] {
		return c.fail(n, false, "alias *%s stands inside its own anchor: write the value out", n.Value)
	}
	if c.alias == nil {
		c.alias = n
		defer func() { c.alias = nil }()
	}
	return c.node(n.Alias, depth+1)
}

func (c *converter) scalar(n *yaml.Node) *tree.Node {
	out := &tree.Node{Kind: tree.String, Text: n.Value, Pos: c.pos(n)}
	out.Plain = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if out.Plain && strings.HasSuffix(n.Value, "---") {
		return c.fail(n, false, "a separator is glued to this value: start a new line before the three dashes, or quote the value")
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
	case "!!null":
		out.Kind = tree.Null
	case "!!bool":
		out.Kind, out.Text = tree.Bool, strings.ToLower(n.Value)
	case "!!int", "!!float":
		out.Kind = tree.Number
	default:
		return c.fail(n, true, "has the tag %s, which has no meaning here: remove it", n.Tag)
	}
	return out
}

func (c *converter) mapping(n *yaml.Node, depth int) *tree.Node {
	out := &tree.Node{Kind: tree.Map, Pos: c.pos(n), Fields: make([]tree.Field, 0, len(n.Content)/2)}
	var merged []tree.Field
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, c.merge(value, depth)...)
			continue
		}
		f := tree.Field{Pos: c.pos(n.Content[i])}
		if f.Key = c.key(key); f.Key == "" && key.Kind != yaml.ScalarNode {
			continue
		}
		c.at = append(c.at, step{key: f.Key})
		f.Value = c.node(value, depth+1)
		c.at = c.at[:len(c.at)-1]
		out.Fields = append(out.Fields, f)
	}
	for _, f := range repeated(c.file, out, c.at) {
		c.add(f)
	}
	for _, f := range merged {
		if out.Get(f.Key) == nil {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// key reads a key. One that readers disagree on is used as it is written.
func (c *converter) key(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		c.fail(n, false, "a key must be a string; where this is a template, fill it in first")
		return ""
	}
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
	if tag := n.ShortTag(); tag != "!!str" || plain && tree.Ambiguous(n.Value) && n.Value != "" {
		c.fail(n, true, "key %s is not a string to every YAML reader: write %q in quotes", n.Value, n.Value)
	}
	return n.Value
}

// merge returns the fields that a merge key adds: earlier ones win.
func (c *converter) merge(n *yaml.Node, depth int) []tree.Field {
	value := c.node(n, depth+1)
	reported := len(c.flaws) > 0 && c.flaws[len(c.flaws)-1].node == value
	var out []tree.Field
	switch {
	case reported:
		return nil
	case value.Kind == tree.Map:
		return value.Fields
	case value.Kind == tree.List:
		for _, item := range value.Items {
			if item.Kind != tree.Map {
				c.fail(n, false, notMergeable)
			}
			out = append(out, item.Fields...)
		}
	default:
		c.fail(n, false, notMergeable)
	}
	return out
}

const notMergeable = "a merge key takes an object or a list of objects"
