// SPDX-License-Identifier: Apache-2.0

// Package krm runs render as a KRM function: a ResourceList in, the same ResourceList with rendered objects out.
//
// As a generator, the function's configuration is the fleet. As a transformer, fleets are among the items. Foreign items,
// comments and the order of items stay; what an earlier run rendered is replaced in its place, or removed. JSON comes back as JSON.
package krm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

// maxInput bounds a ResourceList.
const maxInput = 512 << 20

// Run reads a ResourceList from in and writes the result to out. When the input is wrong it writes the items as they were,
// with the problems as results, and returns the problems. The error is for everything else.
func Run(in io.Reader, out io.Writer) (problems, warnings source.Problems, err error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the standard input: %w", err)
	}
	list, err := parseList(raw)
	if errors.As(err, &problems) {
		return problems, nil, nil
	}
	warnings, err = list.render()
	if errors.As(err, &problems) {
		err = nil
	}
	if err != nil {
		return nil, nil, err
	}
	list.setResults(problems, warnings)
	return problems, warnings, list.write(out)
}

// A resourceList is a parsed ResourceList.
type resourceList struct {
	doc    *yaml.Node
	root   *yaml.Node
	items  *yaml.Node
	config *yaml.Node // nil when there is no functionConfig
	json   bool       // what was read is JSON
}

func parseList(raw []byte) (*resourceList, error) {
	fail := func(message string) (*resourceList, error) {
		return nil, source.Problems{{File: source.StdinName, Message: message}}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return fail("is not YAML: " + err.Error())
	}
	if e := (expander{open: map[*yaml.Node]bool{}}); len(doc.Content) == 1 {
		if doc.Content[0] = e.node(doc.Content[0]); doc.Content[0] == nil {
			return fail("holds an alias that contains itself, or aliases that expand to more than a million values: write them out")
		}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || text(doc.Content[0], "kind") != "ResourceList" {
		return fail("must be a ResourceList, as kustomize and kpt hand it to a function; for plain objects use 'fleetwright render -'")
	}
	l := &resourceList{doc: &doc, root: doc.Content[0], json: json.Valid(raw)}
	l.items, l.config = get(l.root, "items"), get(l.root, "functionConfig")
	switch {
	case l.items == nil:
		l.items = &yaml.Node{Kind: yaml.SequenceNode}
		set(l.root, "items", l.items)
	case l.items.Kind == yaml.ScalarNode && l.items.ShortTag() == "!!null":
		*l.items = yaml.Node{Kind: yaml.SequenceNode}
	case l.items.Kind != yaml.SequenceNode:
		return fail("items must be a list")
	}
	for _, item := range l.items.Content {
		if item.Kind != yaml.MappingNode {
			return nil, source.Problems{{File: source.StdinName, Message: fmt.Sprintf("line %d: an item must be an object", item.Line)}}
		}
	}
	return l, nil
}

// render puts the objects of every fleet into the items.
func (l *resourceList) render() (source.Problems, error) {
	opts, fleets, err := l.options()
	if err != nil {
		return nil, err
	}
	generator := len(fleets) > 0
	if !generator {
		fleets = l.items.Content
	} else {
		l.dropConfig()
	}
	items := make([]source.Item, len(fleets))
	for i, node := range fleets {
		items[i] = source.Item{File: origin(node), Node: node}
	}
	set, err := source.ReadItems(items, source.Options{Namespace: opts.Namespace})
	if err != nil {
		return nil, err
	}
	if generator && set.Fleets() > 0 {
		fleets[0] = parsed(set.Documents[0].Text)
		l.items.Content = append(l.items.Content, fleets[0])
	}
	all, next := newItems(l.items.Content), 0
	warnings, err := output.Each(set, opts, func(doc *source.Document, objects render.Objects) error {
		if doc.Fleet != nil {
			all.put(fleets[next], doc.Fleet, objects[1:])
		}
		next++
		return nil
	})
	var removed source.Problems
	l.items.Content, removed = all.all(!generator)
	return slices.Concat(set.Warnings, warnings, removed), err
}

func (l *resourceList) write(out io.Writer) error {
	var b bytes.Buffer
	if l.json {
		if err := json.Indent(&b, append(appendJSON(nil, l.root), '\n'), "", "  "); err != nil {
			return fmt.Errorf("encoding the ResourceList: %w", err)
		}
		return written(out.Write(b.Bytes()))
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := errors.Join(enc.Encode(l.doc), enc.Close()); err != nil {
		return fmt.Errorf("encoding the ResourceList: %w", err)
	}
	return written(out.Write(b.Bytes()))
}

func written(_ int, err error) error {
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
