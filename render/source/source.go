// SPDX-License-Identifier: Apache-2.0

// Package source reads fleets from files, directories, kustomizations and streams: strictly, with every problem at once and
// each at its place. Objects of other kinds come back as the text they were.
package source

import (
	"fmt"
	"io"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
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
}

// Document is one object of the input.
type Document struct {
	File string
	Pos  tree.Pos
	// Fleet is the decoded fleet, nil for an object of another kind. It is neither validated nor defaulted, but has a
	// namespace if there is one to be had.
	Fleet v1alpha1.Fleet
	// Text is the object as YAML or JSON, without a separator: another kind's exactly as it was read, a fleet's as it was
	// written but for layout.
	Text []byte

	root *tree.Node
	id   tree.ID
	// replaced says that the object was rendered earlier and is about to be rendered anew.
	replaced bool
}

// ID is what the object is called.
func (d *Document) ID() tree.ID { return d.id }

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
func Read(paths []string, opts Options) (*Set, error) {
	// 1. Find and load the inputs.
	inputs, err := load(paths, opts)
	if err != nil {
		return nil, err
	}
	// 2. Read each document, then what concerns several.
	r := &reader{opts: opts}
	for _, in := range inputs {
		if len(r.problems) > enoughProblems {
			break
		}
		r.files = append(r.files, in.name)
		r.read(in)
	}
	r.across()
	if len(r.problems) > 0 {
		return nil, r.report()
	}
	return &Set{Documents: r.documents, Warnings: r.warnings.sorted(r.files)}, nil
}

type reader struct {
	opts      Options
	files     []string
	documents []Document
	problems  Problems
	warnings  Problems
	space     []byte // scratch
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

// read takes the documents of an input, until there are too many problems to go on.
func (r *reader) read(in input) {
	if pos, problem := checkText(in.text); problem != "" {
		r.fail(Problem{File: in.name, Pos: pos, Message: problem})
		return
	}
	for d := range split(in.text) {
		if d.blank() {
			continue
		}
		if len(r.problems) > enoughProblems {
			return
		}
		nodes, findings := parse(in.name, d)
		if len(nodes) == 0 {
			r.findings(in, tree.ID{}, findings, false)
			continue
		}
		text := d.body()
		if len(nodes) > 1 {
			text = nil
		}
		for _, n := range nodes {
			r.object(in, n, text, findings)
			findings = nil
		}
	}
}

// findings reports how a document is written, but not what whoever reads it later may decide.
func (r *reader) findings(in input, object tree.ID, findings []finding, passedOn bool) {
	for _, f := range findings {
		if f.repeated || f.lenient && passedOn {
			continue
		}
		if in.built {
			f.Pos = tree.Pos{}
		}
		if (in.built || in.item) && object.Name != "" {
			f.Object = object
		}
		r.fail(f.Problem)
	}
}
