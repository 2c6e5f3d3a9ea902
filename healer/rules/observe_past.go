// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// remember adds what this process has seen: when removed members ended, which templates have worked, and the brake.
func (o *Observer) remember(_ context.Context, _ v1alpha1.Fleet, s *Snapshot, now time.Time) error {
	ready := map[string]bool{}
	for i := range s.Members {
		if p := s.Members[i].Pod; p != nil && p.Ready && !p.Terminating {
			ready[p.Revision] = true
		}
	}
	s.eachPod(func(p *Pod) { p.Proven = p.Proven || ready[p.Revision] })
	if o.Memory == nil || s.Workload == nil {
		return nil
	}
	// What happened before the process began counts as if it had happened then, where a claim shows that a member was removed at all.
	if at, seen := o.Memory.Ended(s.Fleet.Namespace, s.Fleet.Identity, s.Workload.Replicas); seen || s.removedBefore() {
		s.RemovalEnded = past(at, now)
	}
	s.Brake = o.Memory.Brake(s.fleetRef(), s.Fleet.Identity, now)
	return nil
}

// removedBefore reports whether a claim or a Pod beyond the workload's count is left of a removed member.
func (s *Snapshot) removedBefore() bool {
	beyond := s.Members[len(s.Current()):]
	return len(s.Removed) > 0 || slices.ContainsFunc(beyond, func(m Member) bool { return m.Claim != nil || m.Pod != nil })
}

// refused asks why a member has no Pod, once its controller should have made it. Events of a Deployment are about ReplicaSets.
func (o *Observer) refused(ctx context.Context, _ v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	w := s.Workload
	if o.Refused == nil || w == nil || w.Kind != KindStatefulSet || s.Fleet.Deleting || s.Fleet.Paused || !w.Observed || !s.missesPod() {
		return nil
	}
	text, _ := o.Refused(ctx, w.Ref) // events are a help, and decide nothing
	w.Refused = Cut(text, maxAnswer)
	return nil
}

func (s *Snapshot) missesPod() bool {
	if !s.Fleet.Ordered() {
		return len(s.Pods) < s.Workload.Replicas
	}
	return slices.ContainsFunc(s.Current(), func(m Member) bool { return m.Pod == nil })
}

// change reads how the template of a member that is down differs from one that runs, where that may be why: no Pod of it has been
// Ready, and another one is there. Revisions are read by name, and only then.
func (o *Observer) change(ctx context.Context, _ v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	m, other := s.suspect()
	if m == nil {
		return nil
	}
	s.Change = &Change{}
	var templates [2]any
	for i, revision := range []string{m.Pod.Revision, other} {
		r, found, err := read[*appsv1.ControllerRevision](ctx, o.ByName, KindControllerRevision, s.Fleet.Namespace, revision)
		if err != nil {
			return err
		}
		var data struct {
			Spec struct {
				Template any `json:"template"`
			} `json:"spec"`
		}
		if known := found && json.Unmarshal(r.Data.Raw, &data) == nil && data.Spec.Template != nil; !known {
			return nil
		}
		templates[i] = data.Spec.Template
	}
	s.Change.Known = true
	s.Change.Fields = differences("", templates[1], templates[0])
	s.Change.Places = slices.ContainsFunc(s.Change.Fields, func(field string) bool {
		return places(field) && !(field == spreadField && opens(templates[1], templates[0]))
	})
	return nil
}

// suspect returns the first member that may be down because of its template, and a revision that it can be compared with: one that
// another member runs, Ready ones first, or, for an only member, the one before.
func (s *Snapshot) suspect() (*Member, string) {
	if s.Workload == nil || !s.Fleet.Persistent || s.Fleet.Deleting || s.Fleet.Paused || s.Fleet.Stopped {
		return nil, ""
	}
	current := s.Current()
	for i := range current {
		m := &current[i]
		if m.Pod == nil || m.Pod.Terminating || m.Pod.Ready || m.Pod.Proven || m.Pod.Revision == "" {
			continue
		}
		if other := s.beside(m); other != "" {
			return m, other
		}
	}
	return nil, ""
}

// beside returns another revision than a member's that runs beside it, empty for none.
func (s *Snapshot) beside(m *Member) string {
	other := ""
	for i := range s.Current() {
		p := s.Members[i].Pod
		if p == nil || p.Revision == "" || p.Revision == m.Pod.Revision {
			continue
		}
		if p.Ready {
			return p.Revision
		}
		other = p.Revision
	}
	if w := s.Workload; other == "" && len(s.Current()) == 1 && w.CurrentRevision != w.NextRevision {
		for _, revision := range []string{w.CurrentRevision, w.NextRevision} {
			if revision != "" && revision != m.Pod.Revision {
				return revision
			}
		}
	}
	return other
}

// differences lists the paths at which two JSON values differ, sorted. Lists of named things are compared by name.
func differences(path string, a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return []string{path}
		}
		keys := make([]string, 0, len(x)+len(y))
		for key := range x {
			keys = append(keys, key)
		}
		for key := range y {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		var out []string
		for _, key := range slices.Compact(keys) {
			dot := "."
			if path == "" || strings.HasPrefix(key, "[") {
				dot = ""
			}
			out = append(out, differences(path+dot+key, x[key], y[key])...)
		}
		return out
	case []any:
		y, ok := b.([]any)
		xs, ys := byName(x), byName(y)
		if !ok || xs == nil || ys == nil {
			break
		}
		return differences(path, xs, ys)
	}
	if equalJSON(a, b) {
		return nil
	}
	return []string{path}
}

// byName turns a list of objects with unique names into a map, and returns nil for any other list.
func byName(list []any) map[string]any {
	out := map[string]any{}
	for _, item := range list {
		object, ok := item.(map[string]any)
		name, named := object["name"].(string)
		if !ok || !named || out["["+name+"]"] != nil {
			return nil
		}
		out["["+name+"]"] = object
	}
	return out
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

const spreadField = "spec.topologySpreadConstraints"

// opens reports whether a change of a template's spread can keep no Pod off a node that took it before: of what it insists on, it
// differs in nothing but a higher maxSkew, as when placement.maxPerZone is raised.
func opens(before, after any) bool {
	was, is := hardSpread(before), hardSpread(after)
	if was == nil || is == nil || was.MaxSkew > is.MaxSkew {
		return false
	}
	was.MaxSkew = is.MaxSkew
	return equalJSON(was, is)
}

// hardSpread returns the one constraint on the spread that a template insists on, nil for none or several.
func hardSpread(template any) *corev1.TopologySpreadConstraint {
	raw, _ := json.Marshal(template)
	var t corev1.PodTemplateSpec
	if json.Unmarshal(raw, &t) != nil {
		return nil
	}
	hard := slices.DeleteFunc(t.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != corev1.DoNotSchedule
	})
	if len(hard) != 1 {
		return nil
	}
	return &hard[0]
}

// placing are the fields of a Pod's spec that decide where it may run, and what it asks of a node.
var placing = []string{
	"spec.nodeSelector", "spec.affinity", "spec.tolerations", spreadField, "spec.priorityClassName",
	"spec.schedulerName", "spec.runtimeClassName", "spec.nodeName", "spec.hostNetwork", "spec.schedulingGates",
}

// places reports whether a field of a template decides where a Pod may run.
func places(field string) bool {
	if slices.ContainsFunc(placing, func(prefix string) bool { return field == prefix || strings.HasPrefix(field, prefix+".") }) {
		return true
	}
	return strings.HasPrefix(field, "spec.containers[") && (strings.Contains(field, ".resources") || strings.Contains(field, ".ports"))
}
