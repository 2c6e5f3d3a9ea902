// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// A pair is a fleet before and after; one of them is nil where the other stands alone.
type pair struct{ before, after v1alpha1.Fleet }

func (p pair) fleet() v1alpha1.Fleet {
	if p.after != nil {
		return p.after
	}
	return p.before
}

// paired finds the two states of each fleet, and sorts them by namespace, name and kind.
func paired(before, after []v1alpha1.Fleet) []pair {
	type name struct{ namespace, name, kind string }
	nameOf := func(f v1alpha1.Fleet) name { return name{f.GetNamespace(), f.GetName(), f.Kind()} }
	pairs := map[name]pair{}
	for _, f := range before {
		pairs[nameOf(f)] = pair{before: f}
	}
	for _, f := range after {
		pairs[nameOf(f)] = pair{before: pairs[nameOf(f)].before, after: f}
	}
	return slices.SortedFunc(maps.Values(pairs), func(x, y pair) int {
		a, b := nameOf(x.fleet()), nameOf(y.fleet())
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
}

type outcome struct {
	Change

	err error
}

func (p pair) outcome(owned owners, opts render.Options) outcome {
	c := changeOf(p.fleet())
	var err error
	switch {
	case p.before == nil:
		c.started(p.after, owned)
	case p.after == nil:
		c.deleted(p.before)
	default:
		if err = c.changed(p.before, p.after, opts); err != nil {
			err = fmt.Errorf("%s: %w", &c, err)
		}
	}
	return outcome{c, err}
}

func changeOf(f v1alpha1.Fleet) Change {
	return Change{Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName()}
}

// owners are fleets by what belongs to one of them alone: a bucket, an identity, and a name, with the Services that have it.
type owners struct {
	fleets []v1alpha1.Fleet
	by     map[string][]int
}

func ownersOf(fleets []v1alpha1.Fleet) owners {
	o := owners{fleets, map[string][]int{}}
	for i, f := range fleets {
		for _, what := range belongings(f) {
			o.by[what] = append(o.by[what], i)
		}
	}
	return o
}

func belongings(f v1alpha1.Fleet) []string {
	name := f.GetNamespace() + "/" + f.GetName()
	return []string{"bucket " + render.ReservationName(f.Store().BucketURL().Whole()), "identity " + render.Identity(f), "name " + name}
}

// rivals are the fleets that have something that a fleet needs for itself, in their order.
func (o owners) rivals(f v1alpha1.Fleet) []v1alpha1.Fleet {
	var found []int
	for _, what := range belongings(f) {
		found = append(found, o.by[what]...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	out := make([]v1alpha1.Fleet, len(found))
	for i, at := range found {
		out[i] = o.fleets[at]
	}
	return out
}
