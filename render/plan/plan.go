// SPDX-License-Identifier: Apache-2.0

// Package plan tells what a change of fleets does to members that run, before it is applied.
//
// It compares specs and what they render to, and knows no cluster: which disks members find, and when the healer acts, is seen
// there alone.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// An Effect is one thing that a change does.
type Effect struct {
	// Verb is a word such as restarts, adds, removes, deletes or refused.
	Verb string
	// Text says what happens to whom, and when.
	Text string
}

// Refused is the verb of what the API server or the webhook refuses.
const Refused = "refused"

// A Fleet is what happens to one fleet. Without effects nothing does.
type Fleet struct {
	Kind, Namespace, Name string
	Effects               []Effect
}

func (f *Fleet) String() string { return f.Kind + " " + f.Namespace + "/" + f.Name }

// Refused reports whether the change of this fleet is refused.
func (f *Fleet) Refused() bool {
	return slices.ContainsFunc(f.Effects, func(e Effect) bool { return e.Verb == Refused })
}

func (f *Fleet) add(verb, format string, args ...any) {
	f.Effects = append(f.Effects, Effect{verb, fmt.Sprintf(format, args...)})
}

// Of compares two states of some fleets, which have namespaces and are valid. The result is sorted by namespace, name and kind,
// and holds every fleet of either. An error is one of rendering.
func Of(before, after []v1alpha1.Fleet, opts render.Options) ([]Fleet, error) {
	type pair struct{ before, after v1alpha1.Fleet }
	type name struct{ namespace, name, kind string }
	pairs := map[name]*pair{}
	at := func(f v1alpha1.Fleet) *pair {
		key := name{f.GetNamespace(), f.GetName(), f.Kind()}
		if pairs[key] == nil {
			pairs[key] = &pair{}
		}
		return pairs[key]
	}
	for _, f := range before {
		at(f).before = f
	}
	for _, f := range after {
		at(f).after = f
	}
	var out []Fleet
	for key, p := range pairs {
		f := Fleet{Kind: key.kind, Namespace: key.namespace, Name: key.name}
		switch {
		case p.before == nil:
			f.started(p.after, before)
		case p.after == nil:
			f.deleted(p.before)
		default:
			if err := f.changed(p.before, p.after, opts); err != nil {
				return nil, fmt.Errorf("%s: %w", &f, err)
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Fleet) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return out, nil
}

// started tells of a fleet that is new. A bucket stays with the fleet that it was reserved for, also when that one goes.
func (f *Fleet) started(fleet v1alpha1.Fleet, before []v1alpha1.Fleet) {
	for _, old := range before {
		was := &Fleet{Kind: old.Kind(), Namespace: old.GetNamespace(), Name: old.GetName()}
		sameBucket := render.ReservationName(old.Store().BucketURL()) == render.ReservationName(fleet.Store().BucketURL())
		switch {
		case sameBucket && render.Identity(old) != render.Identity(fleet):
			f.add(Refused, "spec.storage.bucket: the bucket belongs to %s, and does so when that one is gone: use another bucket or prefix; "+
				"or delete that one first, in a change of its own, and set spec.identity to %s to take its data over", was, render.Identity(old))
		case was.Namespace == f.Namespace && was.Name == f.Name:
			f.add(Refused, "metadata.name: %s has the same name, and so the same Services: delete that one first, in a change of its own", was)
		case render.Identity(old) == render.Identity(fleet):
			f.add(Refused, "spec.identity: %s has the same identity, and so the same bucket and disks: delete that one first, in a change of its own", was)
		}
	}
	switch m := fleet.Shared().Maintenance; {
	case f.Refused():
	case m.Paused:
		f.add("creates", "no more than the first member until the fleet is resumed")
	case m.Stopped:
		f.add("creates", "no member that stays while maintenance.stopped is true")
	case persistent(fleet):
		f.add("creates", "%s, on fresh disks, or on those that are there with the fleet's identity %s", members(replicas(fleet)), render.Identity(fleet))
	default:
		f.add("creates", "%s", members(replicas(fleet)))
	}
}

func (f *Fleet) deleted(fleet v1alpha1.Fleet) {
	if fleet.GetAnnotations()[v1alpha1.AnnotationProtect] == "true" {
		f.add(Refused, "metadata.annotations[%s]: protects the fleet: remove the annotation first", v1alpha1.AnnotationProtect)
		return
	}
	if persistent(fleet) {
		f.add("deletes", "all members and their disks, those of removed members too; the bucket stays, and the record of whose it is")
		return
	}
	f.add("deletes", "all members; the bucket stays, and the record of whose it is")
}

// changed tells of a fleet that is there before and after. A change that is refused does nothing else.
func (f *Fleet) changed(before, after v1alpha1.Fleet, opts render.Options) error {
	for _, e := range after.ValidateUpdate(before) {
		f.add(Refused, "%s: %s", e.Field, e.ErrorBody())
	}
	if f.Refused() {
		return nil
	}
	old, err := objects(before, opts)
	if err != nil {
		return err
	}
	now, err := objects(after, opts)
	if err != nil {
		return err
	}
	f.fields(old, now)
	f.others(old, now)
	f.maintenance(before, after)
	f.restarts(before, after, old, now)
	f.zones(before, after)
	f.count(before, after)
	return nil
}

// maintenance tells of a pause or a stop that begins or ends.
func (f *Fleet) maintenance(before, after v1alpha1.Fleet) {
	was, is := before.Shared().Maintenance, after.Shared().Maintenance
	switch {
	case is.Paused && !was.Paused:
		f.add("pauses", "what follows is staged: nobody restarts, and no member is added, removed or replaced, until the fleet is resumed")
	case is.Paused:
		f.add("paused", "what changes is staged until the fleet is resumed")
	case was.Paused && is.Stopped:
		f.add("resumes", "what was staged while the fleet was paused begins")
	case was.Paused:
		f.add("resumes", "what was staged while the fleet was paused begins, and members that are down for longer than the replacement delay are replaced")
	}
	switch {
	case stopped(after) && !stopped(before):
		f.add("stops", "all members in one step%s", disksKept(after))
	case stopped(before) && !is.Stopped:
		f.add("starts", "%s: those with a disk of before in one step, on it, the others after them", members(replicas(after)))
	}
}

// stopped reports whether no member runs: a pause comes first.
func stopped(f v1alpha1.Fleet) bool {
	m := f.Shared().Maintenance
	return m.Stopped && !m.Paused
}

// fields names what is different in the spec.
func (f *Fleet) fields(old, now map[tree.ID]*tree.Node) {
	for id, fleet := range now {
		if id.Kind != f.Kind {
			continue
		}
		if fields := render.Differences(old[id], fleet); len(fields) > 0 {
			f.add("changes", "%s", listed(fields))
		}
	}
}

// restarts tells of a template that changes. While no member runs it restarts nobody.
func (f *Fleet) restarts(before, after v1alpha1.Fleet, old, now map[tree.ID]*tree.Node) {
	template := func(path string) bool { return path == "spec.template" || strings.HasPrefix(path, "spec.template.") }
	for id, object := range now {
		switch {
		case !workload(id) || old[id] == nil || !slices.ContainsFunc(render.Differences(old[id], object), template):
		case stopped(after) || stopped(before):
			f.add("updates", "the template that members start with")
		case replicas(before) == 1:
			f.add("restarts", "the one member")
		case after.Ordered():
			f.add("restarts", "%s, one at a time, the highest first, each when the one before is ready", members(replicas(before)))
		default:
			f.add("restarts", "%s, one at a time", members(replicas(before)))
		}
	}
}

func workload(id tree.ID) bool { return id.Kind == "StatefulSet" || id.Kind == "Deployment" }

// zones tells of members that have to go elsewhere.
func (f *Fleet) zones(before, after v1alpha1.Fleet) {
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
		f.add("moves", "members with a disk in %s: they find no node, and each gets a fresh disk elsewhere after the replacement delay, once all others are settled", strings.Join(gone, ", "))
	case persistent(after) && strict(is) && !strict(was):
		f.add("moves", "members whose disks are in one zone, if there are too many: those find no node, and each gets a fresh disk elsewhere after the replacement delay, once all others are settled")
	case persistent(after):
	case after.Ordered() && strict(is):
		if n := rezoned(was.Zones, is.Zones, min(replicas(before), replicas(after))); n > 0 {
			f.add("moves", "%s, to another zone", members(n))
		}
	case len(gone) > 0:
		f.add("moves", "members in %s, to the other zones", strings.Join(gone, ", "))
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
func (f *Fleet) count(before, after v1alpha1.Fleet) {
	was, is := replicas(before), replicas(after)
	name := after.GetName()
	switch {
	case stopped(after) || stopped(before):
	case is > was && !after.Ordered():
		f.add("adds", "%s", members(is-was))
	case is > was:
		text := span(name, was, is-1)
		if persistent(after) {
			each := ""
			if is-was > 1 {
				each = "each "
			}
			text += ", " + each + "on its disk of before if there is one, else on a fresh one, once the scheduler has answered for all others"
		}
		f.add("adds", "%s", text)
	case is < was && !after.Ordered():
		f.add("removes", "%s, one at a time, each when all are ready", members(was-is))
	case is < was:
		text := span(name, was-1, is) + ", one at a time, each when all are ready"
		if persistent(after) {
			text += "; their claims are kept"
		}
		f.add("removes", "%s", text)
	}
}

// others tells of objects beside the fleet and its workload.
func (f *Fleet) others(old, now map[tree.ID]*tree.Node) {
	for _, id := range sorted(old, now) {
		if workload(id) || id.Kind == f.Kind {
			continue
		}
		switch fields := render.Differences(orEmpty(old[id]), orEmpty(now[id])); {
		case old[id] == nil:
			f.add("creates", "%s %s", id.Kind, id.Name)
		case now[id] == nil:
			f.add("deletes", "%s %s", id.Kind, id.Name)
		case len(fields) > 0:
			f.add("updates", "%s %s: %s", id.Kind, id.Name, listed(fields))
		}
	}
}

// objects renders a fleet.
func objects(f v1alpha1.Fleet, opts render.Options) (map[tree.ID]*tree.Node, error) {
	rendered, err := render.Render(f, opts)
	if err != nil {
		return nil, err
	}
	out := map[tree.ID]*tree.Node{}
	for i := range rendered {
		raw, err := rendered[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		node, err := tree.FromJSON(raw)
		if err != nil {
			return nil, err
		}
		out[rendered[i].ID()] = node
	}
	return out, nil
}

func orEmpty(n *tree.Node) *tree.Node {
	if n == nil {
		return &tree.Node{Kind: tree.Map}
	}
	return n
}

func sorted(a, b map[tree.ID]*tree.Node) []tree.ID {
	var ids []tree.ID
	for id := range a {
		ids = append(ids, id)
	}
	for id := range b {
		if a[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y tree.ID) int { return cmp.Compare(x.String(), y.String()) })
	return ids
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
