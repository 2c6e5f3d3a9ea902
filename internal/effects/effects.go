// SPDX-License-Identifier: Apache-2.0

// Package effects tells what changes of fleets do to members that run, before they are applied.
//
// It compares specs and what they render to, and knows no cluster: which disks members find, and when the healer acts, is seen
// there alone.
package effects

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/ordered"
	"github.com/fleetwright/fleetwright/render"
)

// An Effect is one thing that a change does.
type Effect struct {
	// Verb is a word such as restarts, adds, removes, deletes or refused.
	Verb string
	// Text says what happens to whom, and when.
	Text string
}

// refused is the verb of what the API server or the webhook refuses.
const refused = "refused"

// A Change is what happens to one fleet. Without effects nothing does.
type Change struct {
	Kind, Namespace, Name string
	Effects               []Effect
}

func (c *Change) String() string { return c.Kind + " " + c.Namespace + "/" + c.Name }

// Refused reports whether the change of this fleet is refused.
func (c *Change) Refused() bool {
	return slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Verb == refused })
}

func (c *Change) add(verb, format string, args ...any) {
	c.Effects = append(c.Effects, Effect{verb, fmt.Sprintf(format, args...)})
}

// Of compares two states of some fleets, which have namespaces and are valid. The result is sorted by namespace, name and kind,
// and holds every fleet of either. An error is one of rendering.
func Of(before, after []v1alpha1.Fleet, opts render.Options) ([]Change, error) {
	pairs := paired(before, after)
	owned := ownersOf(before)
	out := make([]Change, 0, len(pairs))
	var failed error
	for c := range ordered.Map(slices.Values(pairs), func(p pair) outcome { return p.outcome(owned, opts) }) {
		out, failed = append(out, c.Change), errors.Join(failed, c.err)
	}
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// started tells of a fleet that is new. A bucket stays with the fleet that it was reserved for, also when that one goes.
func (c *Change) started(fleet v1alpha1.Fleet, before owners) {
	for _, old := range before.rivals(fleet) {
		was := changeOf(old)
		bucket, theirs := fleet.Store().BucketURL(), old.Store().BucketURL()
		sameBucket := bucket == theirs
		switch {
		case bucket.Overlaps(theirs) && !sameBucket:
			c.add(refused, "spec.storage.bucket: the bucket overlaps %s, which belongs to %s, and does so when that one is gone: use another bucket or prefix",
				theirs, &was)
		case sameBucket && render.Identity(old) != render.Identity(fleet):
			c.add(refused, "spec.storage.bucket: the bucket belongs to %s, and does so when that one is gone: use another bucket or prefix; "+
				"or delete that one first, in a change of its own, and set spec.identity to %s to take its data over", &was, render.Identity(old))
		case was.Namespace == c.Namespace && was.Name == c.Name:
			c.add(refused, "metadata.name: %s has the same name, and so the same Services: delete that one first, in a change of its own", &was)
		case render.Identity(old) == render.Identity(fleet):
			c.add(refused, "spec.identity: %s has the same identity, and so the same bucket and disks: delete that one first, in a change of its own", &was)
		}
	}
	switch m := fleet.Shared().Maintenance; {
	case c.Refused():
	case m.Paused:
		c.add("creates", "no more than the first member until the fleet is resumed")
	case m.Stopped:
		c.add("creates", "no member that stays while maintenance.stopped is true")
	case persistent(fleet):
		c.add("creates", "%s, on fresh disks, or on those that are there with the fleet's identity %s", members(replicas(fleet)), render.Identity(fleet))
	default:
		c.add("creates", "%s", members(replicas(fleet)))
	}
}

func (c *Change) deleted(fleet v1alpha1.Fleet) {
	if v1alpha1.Protected(fleet) {
		c.add(refused, "metadata.annotations[%s]: protects the fleet: remove the annotation first", v1alpha1.AnnotationProtect)
		return
	}
	if persistent(fleet) {
		c.add("deletes", "all members and their disks, those of removed members too; the bucket stays, and the record of whose it is")
		return
	}
	c.add("deletes", "all members; the bucket stays, and the record of whose it is")
}

// changed tells of a fleet that is there before and after. A change that is refused does nothing else.
func (c *Change) changed(before, after v1alpha1.Fleet, opts render.Options) error {
	for _, e := range after.ValidateUpdate(before) {
		c.add(refused, "%s: %s", e.Field, e.ErrorBody())
	}
	if c.Refused() {
		return nil
	}
	objects, err := render.Compare(before, after, opts)
	if err != nil {
		return err
	}
	c.fields(objects)
	c.others(objects)
	c.maintenance(before, after)
	c.restarts(before, after, objects)
	c.placement(before, after)
	c.count(before, after)
	return nil
}

// maintenance tells of a pause or a stop that begins or ends.
func (c *Change) maintenance(before, after v1alpha1.Fleet) {
	was, is := before.Shared().Maintenance, after.Shared().Maintenance
	switch {
	case is.Paused && !was.Paused:
		c.add("pauses", "what follows is staged: nobody restarts, and no member is added, removed or replaced, until the fleet is resumed")
	case is.Paused:
		c.add("paused", "what changes is staged until the fleet is resumed")
	case was.Paused && is.Stopped:
		c.add("resumes", "what was staged while the fleet was paused begins")
	case was.Paused:
		c.add("resumes", "what was staged while the fleet was paused begins, and members that are down for longer than the replacement delay are replaced")
	}
	switch {
	case stopped(after) && !stopped(before):
		c.add("stops", "all members in one step%s", disksKept(after))
	case stopped(before) && !is.Stopped:
		c.add("starts", "%s: those with a disk of before in one step, on it, the others after them", members(replicas(after)))
	}
}

// stopped reports whether no member runs: a pause comes first.
func stopped(f v1alpha1.Fleet) bool {
	m := f.Shared().Maintenance
	return m.Stopped && !m.Paused
}

// fields names what is different in the spec.
func (c *Change) fields(objects []render.Difference) {
	for _, d := range objects {
		if kind(d) == c.Kind {
			c.add("changes", "%s", listed(d.Fields))
		}
	}
}

// restarts tells of a template that changes. While no member runs it restarts nobody.
func (c *Change) restarts(before, after v1alpha1.Fleet, objects []render.Difference) {
	template := func(path string) bool { return path == "spec.template" || strings.HasPrefix(path, "spec.template.") }
	for _, d := range objects {
		switch {
		case !workload(d) || !slices.ContainsFunc(d.Fields, template):
		case stopped(after) || stopped(before):
			c.add("updates", "the template that members start with")
		case replicas(before) == 1:
			c.add("restarts", "the one member")
		case after.Ordered():
			c.add("restarts", "%s, one at a time, the highest first, each when the one before is ready", members(replicas(before)))
		default:
			c.add("restarts", "%s, one at a time", members(replicas(before)))
		}
	}
}

func workload(d render.Difference) bool { return kind(d) == "StatefulSet" || kind(d) == "Deployment" }

func kind(d render.Difference) string { return object(d).GetObjectKind().GroupVersionKind().Kind }

func object(d render.Difference) render.Resource {
	if d.After != nil {
		return d.After
	}
	return d.Before
}

// zones tells of members that have to go elsewhere.
func (c *Change) zones(before, after v1alpha1.Fleet) {
	was, is := before.Shared().Placement, after.Shared().Placement
	var gone []string
	for _, zone := range was.Zones {
		if !slices.Contains(is.Zones, zone) {
			gone = append(gone, zone)
		}
	}
	switch {
	case stopped(before) || stopped(after):
	case persistent(after) && len(gone) > 0:
		c.add("moves", "members with a disk in %s: they find no node, and each gets a fresh disk elsewhere after the replacement delay, once all others are settled and another zone has room for it", strings.Join(gone, ", "))
	case persistent(after):
	case after.Ordered() && strict(is):
		if n := rezoned(was.Zones, is.Zones, min(replicas(before), replicas(after))); n > 0 {
			c.add("moves", "%s, to another zone", members(n))
		}
	case len(gone) > 0:
		c.add("moves", "members in %s, to the other zones", strings.Join(gone, ", "))
	}
}

func strict(p v1alpha1.Placement) bool { return p.Mode != v1alpha1.PlacementRelaxed }

// rezoned counts the ordinals that a gate sends to another zone than before.
func rezoned(was, is []string, replicas int) int {
	n := 0
	for i := range replicas {
		if was[i%len(was)] != is[i%len(is)] {
			n++
		}
	}
	return n
}

// count tells of members that come and go.
func (c *Change) count(before, after v1alpha1.Fleet) {
	was, is := replicas(before), replicas(after)
	name := after.GetName()
	switch {
	case stopped(after) || stopped(before):
	case is > was && !after.Ordered():
		c.add("adds", "%s", members(is-was))
	case is > was:
		text := span(name, was, is-1)
		if persistent(after) {
			each := ""
			if is-was > 1 {
				each = "each "
			}
			text += ", " + each + "on its disk of before if there is one, else on a fresh one, once the scheduler has answered for all others"
		}
		c.add("adds", "%s", text)
	case is < was && !after.Ordered():
		c.add("removes", "%s, one at a time, each when all are ready", members(was-is))
	case is < was:
		text := span(name, was-1, is) + ", one at a time, each when all are ready"
		if persistent(after) {
			text += "; their claims are kept"
		}
		c.add("removes", "%s", text)
	}
}

// others tells of objects beside the fleet and its workload, by kind and name.
func (c *Change) others(objects []render.Difference) {
	name := func(d render.Difference) string { return kind(d) + " " + object(d).GetName() }
	for _, d := range slices.SortedFunc(slices.Values(objects), func(x, y render.Difference) int { return cmp.Compare(name(x), name(y)) }) {
		switch {
		case workload(d) || kind(d) == c.Kind:
		case d.Before == nil:
			c.add("creates", "%s", name(d))
		case d.After == nil:
			c.add("deletes", "%s", name(d))
		default:
			c.add("updates", "%s: %s", name(d), listed(d.Fields))
		}
	}
}

func persistent(f v1alpha1.Fleet) bool { return f.Kind() == v1alpha1.KindPersistentFleet }

func replicas(f v1alpha1.Fleet) int {
	if n := f.Shared().Replicas; n != nil {
		return int(*n)
	}
	return 0
}

func members(n int) string {
	if n == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", n)
}

// span names members, from one ordinal to another.
func span(fleet string, from, to int) string {
	if from == to {
		return render.PodName(fleet, from)
	}
	return render.PodName(fleet, from) + " to " + render.PodName(fleet, to)
}

func disksKept(f v1alpha1.Fleet) string {
	if persistent(f) {
		return "; their disks are kept"
	}
	return ""
}

// maxFields bounds how many fields a line names.
const maxFields = 6

func listed(fields []string) string {
	slices.Sort(fields)
	more := len(fields) - maxFields
	if more <= 0 {
		return strings.Join(fields, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(fields[:maxFields], ", "), more)
}
