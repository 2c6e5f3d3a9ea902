// SPDX-License-Identifier: Apache-2.0

// Package source reads fleets from files, directories, kustomizations and streams: strictly, with every problem at once and
// each at its place. Objects of other kinds come back as the text they were.
package source

import (
	"fmt"
	"io"
	"iter"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/ordered"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxProblems bounds what is reported; a file that is not meant for this tool would otherwise fill a terminal.
const maxProblems = 1000

// enoughProblems ends the reading: what comes later is not reported anyway.
const enoughProblems = 2 * maxProblems

// Options say how to read.
type Options struct {
	// Stdin is what the path "-" reads.
	Stdin io.Reader
	// Namespace of fleets that name none; empty if there is none.
	Namespace string
	// Repository is a directory that kustomizations read nothing outside of; empty means the Git work tree that each is in. One
	// that is in none may list directories anywhere, as kustomize allows.
	Repository string
	// Recursive reads directories below a directory as well, but for hidden ones and symbolic links.
	Recursive bool
	// AboveCap reads fleets with more members than their zones hold, which are refused otherwise: a state of before is not
	// wrong because of what a newer version asks.
	AboveCap bool
}

// Document is one object of the input.
type Document struct {
	File string
	Pos  Pos
	// ID is what the object is called.
	ID ID
	// Fleet is the decoded fleet, nil for an object of another kind. It is neither validated nor defaulted, but has a
	// namespace if there is one to be had.
	Fleet v1alpha1.Fleet
	// Text is the object as YAML or JSON, without a separator: another kind's exactly as it was read, a fleet's as it was
	// written but for layout.
	Text []byte

	root *tree.Node
	// renderer is the namespace and name of the fleet that the object was rendered from earlier, "" for any other object.
	renderer string
	// replaced says that the object is about to be rendered anew.
	replaced bool
}

// Set is what was read: objects in the order of the input, and warnings.
type Set struct {
	Documents []Document
	Warnings  Problems
}

// Fleets counts the fleets of a set.
func (s *Set) Fleets() int {
	n := 0
	for i := range s.Documents {
		if s.Documents[i].Fleet != nil {
			n++
		}
	}
	return n
}

// Read reads paths: files, directories (the *.yaml, *.yml and *.json files in them, or their kustomization), or "-". The
// error is Problems when the input is wrong, and something else when it could not be read.
//
// While a kustomization is built, one at a time, the whole process has neither a PATH nor an http.DefaultTransport that sends anything.
func Read(paths []string, opts Options) (*Set, error) {
	// 1. Find and load the inputs.
	inputs, err := load(paths, opts)
	if err != nil {
		return nil, err
	}
	// 2. Read each document, then what concerns several.
	r := &reader{opts: opts}
	for _, in := range inputs {
		r.files = append(r.files, in.name)
	}
	for read := range ordered.Map(documents(inputs), r.read) {
		if r.add(read); len(r.problems) > enoughProblems {
			break
		}
	}
	r.across()
	return r.set()
}

// A reader collects what was read.
type reader struct {
	opts      Options
	files     []string
	documents []Document
	problems  Problems
	warnings  Problems
}

// add takes over what another reader read.
func (r *reader) add(read *reader) {
	r.documents = append(r.documents, read.documents...)
	r.problems = append(r.problems, read.problems...)
	r.warnings = append(r.warnings, read.warnings...)
}

// set returns what was read, once all of it was.
func (r *reader) set() (*Set, error) {
	if len(r.problems) > 0 {
		return nil, r.report()
	}
	for i := range r.documents {
		r.documents[i].root = nil // nothing is located any more
	}
	return &Set{Documents: r.documents, Warnings: r.warnings.sorted(r.files)}, nil
}

func (r *reader) report() Problems {
	problems := r.problems.sorted(r.files)
	if more := len(problems) - maxProblems; more > 0 {
		last := problems[maxProblems-1]
		problems = append(problems[:maxProblems], Problem{File: last.File, Message: fmt.Sprintf("and at least %d more problems", more)})
	}
	return problems
}

func (r *reader) fail(problems ...Problem) { r.problems = append(r.problems, problems...) }

// A cut is a document of an input, or what makes the whole input unreadable.
type cut struct {
	in input
	document
	unreadable *Problem
}

// documents cuts inputs into their documents, in order.
func documents(inputs []input) iter.Seq[cut] {
	return func(yield func(cut) bool) {
		for _, in := range inputs {
			if pos, problem := checkText(in.text); problem != "" {
				if !yield(cut{unreadable: &Problem{File: in.name, Pos: Pos(pos), Message: problem}}) {
					return
				}
				continue
			}
			for d := range split(in.text) {
				if !d.blank() && !yield(cut{in: in, document: d}) {
					return
				}
			}
		}
	}
}

// read returns what one document holds. Documents are read several at a time.
func (r *reader) read(c cut) *reader {
	one := &reader{opts: r.opts}
	if c.unreadable != nil {
		one.fail(*c.unreadable)
		return one
	}
	nodes, flaws := parse(c.in.name, c.document)
	if len(nodes) == 0 {
		one.flaws(c.in, ID{}, flaws, false)
	}
	text := c.body()
	if len(nodes) > 1 {
		text = nil
	}
	for _, n := range nodes {
		one.object(c.in, n, text, flaws)
		flaws = nil
	}
	return one
}

// flaws reports how a document is written, but not what whoever reads it later may decide.
func (r *reader) flaws(in input, object ID, flaws []flaw, passedOn bool) {
	for _, f := range flaws {
		if f.repeated || f.lenient && passedOn {
			continue
		}
		if in.built {
			f.Pos = Pos{}
		}
		if (in.built || in.item) && object.Name != "" {
			f.Object = object
		}
		r.fail(f.Problem)
	}
}
