// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxWork bounds what kustomize is asked to do, in units of about a millisecond. Two thousand objects, a thousand overlays of one base
// or a map of ten thousand keys are below it.
const maxWork = 5000

// work is what a kustomization costs when it is built, with everything below it as often as it is listed: two lines that list
// a base twice double the work with each level. Floating point, since forty levels are too many for integers.
type work struct {
	units, objects, operations float64
}

// The costs of kustomize, measured: it looks through all keys of a map for each key, through all objects for each object, and
// through all objects for each operation on them.
func (w *work) file(size int64)  { w.units += float64(size) / 5000 }
func (w *work) collection(n int) { w.units += float64(n) * float64(n) / 25_000 }
func (w *work) build(listed work) {
	w.units, w.objects = w.units+listed.units, w.objects+listed.objects
}

// done ends a kustomization.
func (w *work) done() { w.units += 1 + w.objects*w.objects/2000 + w.operations*w.objects/300 }

// node counts the maps and lists of a node.
func (w *work) node(n *tree.Node) {
	n.Walk(func(n *tree.Node) bool {
		w.collection(len(n.Fields) + len(n.Items))
		return true
	})
}

// lines counts those of an env file, which become keys of one map.
func (w *work) lines(text []byte) { w.collection(bytes.Count(text, []byte("\n"))) }

// tooMuch is the problem of a kustomization that would cost too much.
func tooMuch(file string) *Problem {
	return &Problem{File: file, Message: fmt.Sprintf("would take kustomize more than about %d seconds: a base is listed again and again, or "+
		"there are thousands of objects, or of keys in one of them. Split it, or run kustomize yourself and give its output to "+
		"'fleetwright render -'", maxWork/1000)}
}
