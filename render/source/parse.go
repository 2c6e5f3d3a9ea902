// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// A flaw is a problem with how a document is written. Its Field is a path in the document.
type flaw struct {
	Problem
	// lenient flaws are no problem in text that is passed on as it is: whoever reads it there decides.
	lenient bool
	// node stands for the value that could not be read, if there is one.
	node *tree.Node
	// repeated says that the same was found before, at another path: it is not reported again.
	repeated bool
}

// parse reads a document: one tree for YAML, one or more for JSON, and none when it has no end or no sense. Positions are
// those in the file.
func parse(file string, d document) ([]*tree.Node, []flaw) {
	fail := func(pos tree.Pos, message string) ([]*tree.Node, []flaw) {
		return nil, []flaw{{Problem: Problem{File: file, Pos: Pos(pos), Message: message}}}
	}
	if len(d.text) > maxDocument {
		return fail(tree.PosAt(d.line, 1), fmt.Sprintf(
			"a document of %d bytes: the API server takes %d at most; a separator may be missing", len(d.text), maxDocument))
	}
	if pos, problem := checkCharacters(d); problem != "" {
		return fail(pos, problem)
	}
	body := bytes.TrimSpace(d.body())
	nodes, jsonErr := parseJSON(d, body)
	if nodes != nil {
		return nodes, repeatedKeys(file, nodes)
	}
	if line := directive(d); line > 0 {
		return fail(tree.PosAt(line, 1), "a YAML directive, which Argo CD and kustomize refuse: remove the line")
	}
	root, err := parseYAML(d)
	switch {
	case err == nil && root == nil:
		return nil, nil
	case err == nil:
		n, flaws := convert(file, d.line-1, root.Content[0])
		if n == nil {
			return nil, flaws
		}
		return []*tree.Node{n}, flaws
	case jsonErr != nil && looksLikeJSON(body):
		return fail(jsonProblem(d, body, jsonErr))
	default:
		if pos, problem, found := invisibleSyntax(d); found {
			return fail(pos, problem)
		}
		return fail(syntaxProblem(d, err))
	}
}

// parseYAML returns the node of a document, nil if it holds none, and an error unless it holds one at most.
func parseYAML(d document) (*yaml.Node, error) {
	var root, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(d.withoutMarks()))
	err := dec.Decode(&root)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil {
		return nil, errHiddenSeparator
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &root, nil
}

// errHiddenSeparator is returned for text in which YAML sees several documents and line ends do not show them: what comes
// after the first would be lost.
var errHiddenSeparator = errors.New("yaml: holds a separator behind a line end that not every YAML reader knows, " +
	"such as U+2028: end lines with LF or CRLF")

// directive returns the line of a YAML directive, or 0. Directives stand before anything else.
func directive(d document) int {
	line := d.line
	for text := range bytes.Lines(d.text) {
		text = bytes.TrimPrefix(text, byteOrderMark)
		switch trimmed := bytes.TrimSpace(text); {
		case text[0] == '%':
			return line
		case len(trimmed) > 0 && trimmed[0] != '#':
			return 0
		}
		line++
	}
	return 0
}

// parseJSON returns the values of a document that is JSON. It returns nothing for one that is not: braces are YAML, too.
func parseJSON(d document, body []byte) ([]*tree.Node, error) {
	if len(body) == 0 || body[0] != '{' {
		return nil, nil
	}
	nodes, err := tree.FromJSONStream(body)
	if err != nil {
		return nil, err
	}
	by := shift(d, body)
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
			return true
		})
	}
	return nodes, nil
}

// shift says by how many lines and, on the first line, columns the positions in a part of a document are behind those of
// the file.
func shift(d document, part []byte) tree.Pos {
	at := position(d.text, bytes.Index(d.text, part))
	return tree.PosAt(d.line+int(at.Line)-2, int(at.Column)-1)
}

// repeatedKeys finds keys that a JSON object has twice.
func repeatedKeys(file string, nodes []*tree.Node) []flaw {
	var flaws []flaw
	var at trail
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		flaws = append(flaws, repeated(file, n, at)...)
		for _, f := range n.Fields {
			at = append(at, step{key: f.Key})
			walk(f.Value)
			at = at[:len(at)-1]
		}
		for i, item := range n.Items {
			at = append(at, step{index: i, list: true})
			walk(item)
			at = at[:len(at)-1]
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return flaws
}

// repeated finds keys that stand twice in one object, which is at a path of its document.
func repeated(file string, n *tree.Node, path trail) []flaw {
	if len(n.Fields) < 2 {
		return nil
	}
	var flaws []flaw
	seen := make(map[string]tree.Pos, len(n.Fields))
	for _, f := range n.Fields {
		first, ok := seen[f.Key]
		if !ok {
			seen[f.Key] = f.Pos
			continue
		}
		flaws = append(flaws, flaw{Problem: Problem{File: file, Pos: Pos(f.Pos), Field: path.key(f.Key), Message: fmt.Sprintf(
			"is set already at line %d, and tools disagree on which one counts: keep one of them", first.Line)}})
	}
	return flaws
}
