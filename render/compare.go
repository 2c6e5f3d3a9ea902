// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// A Difference is an object that two states of a fleet do not have in common.
type Difference struct {
	// Before and After are the object in each state, nil where the fleet has none.
	Before, After Resource
	// Fields are the paths of what differs in it, sorted; none where only one state has it.
	Fields []string
}

// Compare renders two states of a fleet, which may have other names, and returns the objects in which they differ: in what a
// seal covers, and so not in a workload's replicas. Objects stand in the order of Render, those that are there no more behind.
// The error is an *InvalidError.
func Compare(before, after v1alpha1.Fleet, opts Options) ([]Difference, error) {
	old, now := printers.Get().(*printer), printers.Get().(*printer)
	defer old.release()
	defer now.release()
	if err := old.render(before, opts); err != nil {
		return nil, err
	}
	if err := now.render(after, opts); err != nil {
		return nil, err
	}
	var out []Difference
	index := func(p *printer, typed Resource) int {
		id := tree.IDOfTyped(typed)
		return slices.IndexFunc(p.objects, func(o Object) bool { return tree.IDOfTyped(o.Typed) == id })
	}
	for i, o := range now.objects {
		at := index(old, o.Typed)
		if at < 0 {
			out = append(out, Difference{After: o.Typed})
		} else if fields := seal.Differences(old.trees[at], now.trees[i]); len(fields) > 0 {
			out = append(out, Difference{Before: old.objects[at].Typed, After: o.Typed, Fields: fields})
		}
	}
	for _, o := range old.objects {
		if index(now, o.Typed) < 0 {
			out = append(out, Difference{Before: o.Typed})
		}
	}
	return out, nil
}
