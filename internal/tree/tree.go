// SPDX-License-Identifier: Apache-2.0

// Package tree holds Kubernetes objects as ordered trees: what YAML and JSON say, with the place where it was said.
//
// Typed objects become trees (Of), trees become YAML that people review (AppendYAML) and canonical JSON that digests are
// made of (AppendJSON). A tree keeps the order of keys and, when it was read from a file, the position of every value.
package tree

import (
	"math"
	"slices"
	"strings"
)

// Kind is what a node is.
type Kind uint8

// Kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	Map
	List
	// Raw is JSON that was not looked into. Only Reader makes such nodes; Text is the JSON.
	Raw
)

// String names the kind as error messages do.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an object", "a list", "JSON"}[k]
}

// Pos is a place in a file, both parts from 1; the zero value is no place.
type Pos struct {
	Line, Column int32
}

// PosAt returns a place; parts beyond 2^31 come back as that.
func PosAt(line, column int) Pos {
	return Pos{Line: int32(min(line, math.MaxInt32)), Column: int32(min(column, math.MaxInt32))} //nolint:gosec // bounded
}

// Node is a value. Exactly one of Text, Fields and Items belongs to a kind.
type Node struct {
	Kind Kind
	// Plain says that a scalar stood without quotes in YAML, where readers may disagree on what it is.
	Plain bool
	// Text of a scalar: a string's characters, a number's digits as written, true or false.
	Text   string
	Fields []Field
	Items  []*Node
	Pos    Pos
}

// Field is an entry of a Map.
type Field struct {
	Key   string
	Value *Node
	Pos   Pos
}

// Str returns a String node.
func Str(s string) *Node { return &Node{Kind: String, Text: s} }

// Get follows keys through maps and returns nil where one is missing. It accepts a nil receiver.
func (n *Node) Get(keys ...string) *Node {
	for _, key := range keys {
		if n = n.get(key); n == nil {
			return nil
		}
	}
	return n
}

func (n *Node) get(key string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return n.Fields[i].Value
		}
	}
	return nil
}

// GetText is Get for a string; it returns "" for anything else.
func (n *Node) GetText(keys ...string) string {
	if n = n.Get(keys...); n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Set puts a value at a key of a map, at the end when the key is new.
func (n *Node) Set(key string, value *Node) {
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			n.Fields[i].Value = value
			return
		}
	}
	n.Fields = append(n.Fields, Field{Key: key, Value: value})
}

// SetSorted is Set for a map whose keys are sorted; they stay so.
func (n *Node) SetSorted(key string, value *Node) {
	at, found := slices.BinarySearchFunc(n.Fields, key, func(f Field, key string) int { return strings.Compare(f.Key, key) })
	if found {
		n.Fields[at].Value = value
		return
	}
	n.Fields = slices.Insert(n.Fields, at, Field{Key: key, Value: value})
}

// Filter returns a copy of a map, values shared, with the fields that keep accepts. Anything else comes back as it is.
func (n *Node) Filter(keep func(key string, value *Node) bool) *Node {
	if n == nil || n.Kind != Map {
		return n
	}
	out := *n
	out.Fields = make([]Field, 0, len(n.Fields))
	for _, f := range n.Fields {
		if keep(f.Key, f.Value) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// Replace returns a copy of a map, values shared, with the value at key made anew; a missing key stays missing.
func (n *Node) Replace(key string, with func(*Node) *Node) *Node {
	old := n.get(key)
	if old == nil {
		return n
	}
	out := *n
	out.Fields = append([]Field(nil), n.Fields...)
	out.Set(key, with(old))
	return &out
}

// Each returns a copy of a list with every item made anew; nil leaves an item out. Anything else comes back as it is.
func (n *Node) Each(with func(*Node) *Node) *Node {
	if n == nil || n.Kind != List {
		return n
	}
	out := *n
	out.Items = make([]*Node, 0, len(n.Items))
	for _, item := range n.Items {
		if item = with(item); item != nil {
			out.Items = append(out.Items, item)
		}
	}
	return &out
}

// Walk calls visit for the node and everything below it until visit returns false, and reports whether it never did.
func (n *Node) Walk(visit func(*Node) bool) bool {
	if n == nil {
		return true
	}
	if !visit(n) {
		return false
	}
	for i := range n.Fields {
		if !n.Fields[i].Value.Walk(visit) {
			return false
		}
	}
	for _, item := range n.Items {
		if !item.Walk(visit) {
			return false
		}
	}
	return true
}
