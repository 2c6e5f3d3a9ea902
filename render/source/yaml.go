// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxNodes bounds what aliases may expand to: no object that the API server takes has as many values.
const maxNodes = 200_000

// parse reads a document: one tree for YAML, one or more for JSON. Problems have positions in the file.
func parse(file string, d document) ([]*tree.Node, Problems) {
	if len(d.text) > MaxDocument {
		return nil, Problems{{File: file, Pos: tree.PosAt(d.line, 1), Message: fmt.Sprintf(
			"a document of %d MiB: the API server takes no object above 3 MiB; a separator may be missing", len(d.text)>>20)}}
	}
	if body := bytes.TrimSpace(d.body()); len(body) > 0 && body[0] == '{' {
		if nodes, err := tree.FromJSONStream(body); err == nil {
			return finish(file, nodes, shift(d, body))
		}
	}
	for i, line := range bytes.SplitN(d.text, []byte("\n"), 20) {
		if bytes.HasPrefix(line, []byte("%")) {
			return nil, Problems{{File: file, Pos: tree.PosAt(d.line+i, 1),
				Message: "a YAML directive, which Argo CD and kustomize refuse: remove the line"}}
		}
	}
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(d.text, byteOrderMark)))
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, Problems{syntaxProblem(file, d, err)}
	}
	c := &converter{file: file, line: d.line - 1, open: map[*yaml.Node]bool{}}
	n := c.node(root.Content[0], 0)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return []*tree.Node{n}, nil
}

// shift says by how many lines and, on the first line, columns the positions in a part of a document are behind those of
// the file.
func shift(d document, part []byte) tree.Pos {
	at := position(d.text, bytes.Index(d.text, part))
	return tree.PosAt(d.line+int(at.Line)-2, int(at.Column)-1)
}

// finish checks the keys of JSON values and moves their positions from the document to the file.
func finish(file string, nodes []*tree.Node, by tree.Pos) ([]*tree.Node, Problems) {
	var problems Problems
	move := func(p *tree.Pos) {
		if p.Line == 1 {
			p.Column += by.Column
		}
		p.Line += by.Line
	}
	for _, n := range nodes {
		n.Walk(func(n *tree.Node) bool {
			move(&n.Pos)
			for i := range n.Fields {
				move(&n.Fields[i].Pos)
			}
			problems = append(problems, repeatedKeys(file, n)...)
			return true
		})
	}
	return nodes, problems
}

func repeatedKeys(file string, n *tree.Node) Problems {
	var problems Problems
	if len(n.Fields) < 2 {
		return nil
	}
	seen := make(map[string]tree.Pos, len(n.Fields))
	for _, f := range n.Fields {
		if first, ok := seen[f.Key]; ok {
			problems = append(problems, Problem{File: file, Pos: f.Pos, Field: f.Key, Message: fmt.Sprintf(
				"is set already at line %d, and tools disagree on which one counts: keep one of them", first.Line)})
			continue
		}
		seen[f.Key] = f.Pos
	}
	return problems
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxProblem words an error of the YAML library, whose lines count from the start of the document.
func syntaxProblem(file string, d document, err error) Problem {
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	p := Problem{File: file, Pos: tree.PosAt(d.line+line-1, 1), Message: text}
	lines := bytes.Split(d.text, []byte("\n"))
	for i := max(0, line-2); i < len(lines) && i < line+1; i++ {
		if indent := lines[i][:len(lines[i])-len(bytes.TrimLeft(lines[i], " \t"))]; bytes.ContainsRune(indent, '\t') {
			p.Pos = tree.PosAt(d.line+i, bytes.IndexByte(indent, '\t')+1)
			p.Message = "a tab in the indentation, which YAML does not allow: use spaces"
			return p
		}
	}
	switch {
	case strings.Contains(text, "unknown anchor"):
		p.Message += ": an alias reaches only an anchor above it in the same document"
	case strings.Contains(text, "mapping values are not allowed"):
		p.Message += ": a line above may lack its colon or its quotes, or is indented wrongly"
	case strings.Contains(text, "control characters are not allowed"):
		p.Message = "a control character: remove it (colours of a terminal are often the cause)"
	case strings.Contains(text, "did not find expected"):
		p.Message += ": check the indentation, quotes and brackets here and on the lines above"
	}
	return p
}

// A converter makes a tree of the YAML library's nodes, with every alias and merge key expanded.
type converter struct {
	file     string
	line     int // added to each position
	nodes    int
	open     map[*yaml.Node]bool // anchors that are being expanded
	problems Problems
}

func (c *converter) pos(n *yaml.Node) tree.Pos { return tree.PosAt(n.Line+c.line, n.Column) }

func (c *converter) fail(n *yaml.Node, message string) *tree.Node {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{File: c.file, Pos: c.pos(n), Message: message})
	}
	return &tree.Node{Kind: tree.Null, Pos: c.pos(n)}
}

func (c *converter) node(n *yaml.Node, depth int) *tree.Node {
	c.nodes++
	switch {
	case c.nodes > maxNodes:
		if c.nodes == maxNodes+1 {
			return c.fail(n, fmt.Sprintf("aliases expand to more than %d values: write the values out", maxNodes))
		}
		return &tree.Node{Kind: tree.Null}
	case depth > tree.MaxDepth:
		return c.fail(n, tree.ErrTooDeep.Error())
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.SequenceNode:
		out := &tree.Node{Kind: tree.List, Pos: c.pos(n), Items: make([]*tree.Node, len(n.Content))}
		for i, item := range n.Content {
			out.Items[i] = c.node(item, depth+1)
		}
		return out
	case yaml.AliasNode:
		return c.alias(n, depth)
	default:
		return c.scalar(n)
	}
}

func (c *converter) alias(n *yaml.Node, depth int) *tree.Node {
	if c.open[n.Alias] {
		return c.fail(n, fmt.Sprintf("alias *%s stands inside its own anchor: write the value out", n.Value))
	}
	c.open[n.Alias] = true
	defer delete(c.open, n.Alias)
	return c.node(n.Alias, depth+1)
}

func (c *converter) scalar(n *yaml.Node) *tree.Node {
	out := &tree.Node{Kind: tree.String, Text: n.Value, Pos: c.pos(n)}
	out.Plain = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if out.Plain && strings.HasSuffix(n.Value, "---") {
		return c.fail(n, fmt.Sprintf("%q has a separator glued to it: start a new line before the three dashes, or quote the value", n.Value))
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
	case "!!null":
		out.Kind = tree.Null
	case "!!bool":
		out.Kind, out.Text = tree.Bool, strings.ToLower(n.Value)
	case "!!int", "!!float":
		out.Kind = tree.Number
	default:
		return c.fail(n, fmt.Sprintf("has the tag %s, which has no meaning here: remove it", n.Tag))
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
		k := c.key(key)
		if k == nil {
			continue
		}
		out.Fields = append(out.Fields, tree.Field{Key: k.Text, Pos: k.Pos, Value: c.node(value, depth+1)})
	}
	c.problems = append(c.problems, repeatedKeys(c.file, out)...)
	for _, f := range merged {
		if out.Get(f.Key) == nil {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

func (c *converter) key(n *yaml.Node) *tree.Node {
	if n.Kind != yaml.ScalarNode {
		c.fail(n, "a key must be a string")
		return nil
	}
	k := c.scalar(n)
	if k.Kind != tree.String || k.Plain && tree.Ambiguous(k.Text) && k.Text != "" {
		c.fail(n, fmt.Sprintf("key %s is not a string to every YAML reader: write %q in quotes", n.Value, n.Value))
		return nil
	}
	return k
}

// merge returns the fields that a merge key adds: earlier ones win.
func (c *converter) merge(n *yaml.Node, depth int) []tree.Field {
	value := c.node(n, depth+1)
	switch {
	case value.Kind == tree.Map:
		return value.Fields
	case value.Kind == tree.List:
		var out []tree.Field
		for _, item := range value.Items {
			if item.Kind != tree.Map {
				c.fail(n, "a merge key takes an object or a list of objects")
			}
			out = append(out, item.Fields...)
		}
		return out
	default:
		c.fail(n, "a merge key takes an object or a list of objects")
		return nil
	}
}
