// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const (
	count3 = `[{op: add, path: /spec/replicas, value: 3}]`
	count0 = `[{op: add, path: /spec/replicas, value: 0}]`
)

func disks(f rules.Fleet, n int) []rules.Claim {
	var out []rules.Claim
	for i := range n {
		out = append(out, rules.Claim{Name: render.ClaimName(f.Name, i), Identity: f.Identity})
	}
	return out
}

func TestWorkloadCreate(t *testing.T) {
	me := live(t)
	label := "metadata.labels[celld.eric.dev/fleet-uid]"
	tests := map[string]struct {
		fleet, patch, user string
		facts              func(*rules.Facts)
		want               []string
	}{
		"as rendered":            {},
		"one member":             {patch: `[{op: add, path: /spec/replicas, value: 1}]`},
		"three members":          {patch: count3, want: []string{"spec.replicas: is 3"}},
		"no members":             {patch: count0, want: []string{"spec.replicas: is 0"}},
		"three, by the healer":   {patch: count3, user: healer},
		"three on kept disks":    {patch: count3, facts: func(f *rules.Facts) { f.Claims = known(disks(me, 3)) }},
		"three on two disks":     {patch: count3, facts: func(f *rules.Facts) { f.Claims = known(disks(me, 2)) }, want: []string{"spec.replicas: is 3"}},
		"a count that is absurd": {patch: `[{op: add, path: /spec/replicas, value: 99999999999}]`, want: []string{"spec.replicas: is -1"}},
		"before its fleet": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = known([]rules.Fleet(nil)), known([]rules.Fleet(nil))
		}},
		"before its fleet, which is seen at the second look": {facts: func(f *rules.Facts) { f.Fleets = known([]rules.Fleet(nil)) }},
		"before its fleet, on a bucket in use": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = known([]rules.Fleet(nil)), known([]rules.Fleet{live(t, `{metadata: {name: a}}`)})
		}, want: []string{"spec.template: PersistentFleet fleets/a uses"}},
		"fleet terminating": {facts: func(f *rules.Facts) { f.Fleets = known([]rules.Fleet{live(t, terminating)}) }, want: []string{label + ": being deleted"}},
		"bucket reserved for another": {facts: func(f *rules.Facts) {
			f.Reservation = known(rules.Reservation{Identity: foreign, Fleet: "PersistentFleet others/first"})
		}, want: []string{"spec.template: PersistentFleet others/first"}},
		"bucket of an older fleet": {facts: func(f *rules.Facts) {
			f.Rivals = known([]rules.Fleet{me, live(t, `{metadata: {name: a}}`)})
		}, want: []string{"spec.template: PersistentFleet fleets/a uses"}},
		"claim of another fleet": {facts: func(f *rules.Facts) {
			f.Claims = known([]rules.Claim{{Name: "data-my-fleet-0", Identity: me.Identity}, {Name: "data-my-fleet-1", Identity: foreign}, {Name: "data-my-fleet-2"}})
		}, want: []string{"spec.volumeClaimTemplates: data-my-fleet-1 is at", "spec.volumeClaimTemplates: data-my-fleet-2 is at a member's name and has no identity"}},
		"Deployment": {fleet: bucket, facts: func(f *rules.Facts) { f.Fleets = known([]rules.Fleet{live(t, bucket)}) }},
		"Deployment of three": {fleet: bucket, patch: count3, facts: func(f *rules.Facts) { f.Claims = known(disks(me, 3)) },
			want: []string{"spec.replicas: is 3"}},
		"members without a controller": {facts: func(f *rules.Facts) {
			f.Orphans = known([]string{"my-fleet-0", "my-fleet-2", "other-1", "my-fleet-x"})
		},
			want: []string{"spec.replicas: Pod my-fleet-2"}},
		"members without a controller, all of them kept": {patch: count3, facts: func(f *rules.Facts) {
			f.Claims, f.Orphans = known(disks(me, 3)), known([]string{"my-fleet-0", "my-fleet-1", "my-fleet-2"})
		}},
		"with an owner":                         {patch: `[{op: add, path: /metadata/ownerReferences, value: [{kind: ConfigMap, name: a, uid: "1"}]}]`, want: []string{"metadata.ownerReferences: ConfigMap a 1"}},
		"another image":                         {patch: `[{op: replace, path: /spec/template/spec/containers/0/image, value: evil}]`, want: []string{sealPath + ": not what was rendered"}},
		"no seal":                               {patch: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`, want: []string{sealPath + ": missing"}},
		"seal of another age":                   {patch: `[{op: replace, path: /metadata/annotations/celld.eric.dev~1seal, value: v9}]`, want: []string{sealPath + ": not a seal that this version reads"}},
		"with a sidecar":                        {patch: sidecar},
		"with a foreign key":                    {patch: stray, want: []string{strayPath + ": breaks the seal"}},
		"with a foreign key, and another image": {patch: stray + imageToo, want: []string{strayPath + ": breaks the seal", sealPath + ": not what was rendered"}},
		"no identity":                           {patch: `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}, {op: add, path: /spec/replicas, value: 9}]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			base, object := persistent, "StatefulSet/my-fleet"
			if tc.fleet != "" {
				base, object = tc.fleet, "Deployment/my-fleet"
			}
			in := input(t, rules.Create, "", edited(t, rendered(t, fleet(t, base), object), tc.patch), calm(me))
			if tc.facts != nil {
				tc.facts(&in.Facts)
			}
			if tc.user != "" {
				in.User = tc.user
			}
			requireVerdict(t, tc.want, rules.Review(in))
		})
	}
}

// The identity and the bucket of a fleet that exists cannot change, so no remedy names them.
func TestWorkloadRemedies(t *testing.T) {
	me, rival := live(t), live(t, `{metadata: {name: a}}`)
	none := known([]rules.Fleet(nil))
	reserved := known(rules.Reservation{Identity: foreign, Fleet: "PersistentFleet others/first"})
	tests := map[string]struct {
		facts func(*rules.Facts)
		want  string
	}{
		"rival":                      {func(f *rules.Facts) { f.Rivals = known([]rules.Fleet{rival}) }, "delete the fleet and create it anew with a bucket or prefix of its own"},
		"rival, before the fleet":    {func(f *rules.Facts) { f.Fleets, f.Rivals = none, known([]rules.Fleet{rival}) }, "create the fleet with a bucket or prefix of its own"},
		"reserved":                   {func(f *rules.Facts) { f.Reservation = reserved }, "delete the fleet and create it anew with a bucket or prefix of its own, or with spec.identity " + foreign + " to take the other over"},
		"reserved, before the fleet": {func(f *rules.Facts) { f.Fleets, f.Reservation = none, reserved }, "create the fleet with a bucket or prefix of its own, or with spec.identity " + foreign + " to take the other over"},
		"claim with another identity": {func(f *rules.Facts) {
			f.Claims = known([]rules.Claim{{Name: "data-my-fleet-1", Identity: foreign}})
		}, "if it is this fleet's disk, create the fleet, deleted first if it is there, with spec.identity " + foreign + "; else delete the claim, or create the fleet under another name"},
		"claim that lost its identity": {func(f *rules.Facts) { f.Claims = known([]rules.Claim{{Name: "data-my-fleet-1"}}) }, "if it is this fleet's disk, restore the claim with the label celld.eric.dev/fleet-uid: " + me.Identity + "; else delete the claim, or create the fleet under another name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, rules.Create, "", rendered(t, fleet(t, persistent), "StatefulSet/my-fleet"), calm(me))
			tc.facts(&in.Facts)
			v := rules.Review(in)
			require.Equal(t, rules.Deny, v.Outcome)
			require.Len(t, v.Reasons, 1)
			require.Equal(t, tc.want, v.Reasons[0].Remedy)
		})
	}
}

func TestWorkloadReplicas(t *testing.T) {
	paused := live(t, `{spec: {maintenance: {paused: true}}}`)
	gone := live(t, `{metadata: {name: other}, spec: {storage: {bucket: s3://other}}}`)
	tests := map[string]struct {
		from, to int
		user     string
		fleet    rules.Fleet
		denied   bool
	}{
		"up":                 {from: 3, to: 4, fleet: live(t), denied: true},
		"down":               {from: 3, to: 2, fleet: live(t), denied: true},
		"to zero":            {from: 3, to: 0, fleet: live(t), denied: true},
		"from zero":          {from: 0, to: 3, fleet: live(t), denied: true},
		"from zero, paused":  {from: 0, to: 3, fleet: paused, denied: true},
		"down, paused":       {from: 3, to: 2, fleet: paused, denied: true},
		"to zero, paused":    {from: 3, to: 0, fleet: paused},
		"unchanged":          {from: 3, to: 3, fleet: live(t)},
		"by the healer":      {from: 3, to: 4, fleet: live(t), user: healer},
		"terminating":        {from: 3, to: 4, fleet: live(t, terminating), denied: true},
		"fleet is gone":      {from: 3, to: 4, fleet: gone},
		"one, written out":   {from: 1, to: 1, fleet: live(t)},
		"by somebody else's": {from: 3, to: 4, fleet: live(t), user: "system:serviceaccount:fleets:fleetwright-healer", denied: true},
	}
	for name, tc := range tests {
		var want []string
		if tc.denied {
			want = []string{fmt.Sprintf("spec.replicas: from %d to %d", tc.from, tc.to)}
		}
		set := rendered(t, fleet(t, persistent), "StatefulSet/my-fleet")
		object := func(n int) string {
			return edited(t, set, fmt.Sprintf(`[{op: add, path: /spec/replicas, value: %d}]`, n))
		}
		t.Run("object/"+name, func(t *testing.T) {
			in := input(t, rules.Update, object(tc.from), object(tc.to), calm(tc.fleet))
			in.User = tc.user
			requireVerdict(t, want, rules.Review(in))
		})
		t.Run("scale/"+name, func(t *testing.T) {
			in := input(t, rules.Update, scale(live(t).Identity, tc.from), scale(live(t).Identity, tc.to), calm(tc.fleet))
			in.Resource, in.Subresource, in.User = rules.StatefulSets, "scale", tc.user
			requireVerdict(t, want, rules.Review(in))
		})
	}
	t.Run("scale/of another", func(t *testing.T) {
		in := input(t, rules.Update, scale("", 1), scale("", 5), calm(live(t)))
		in.Resource, in.Subresource = rules.StatefulSets, "scale"
		requireVerdict(t, nil, rules.Review(in))
		require.Empty(t, rules.Review(in).Judged)
	})
}

// scale is a Scale as the API server sends it: zero is left out, and there are no labels.
func scale(identity string, n int) string {
	spec, selector := `{}`, "app=x"
	if n != 0 {
		spec = fmt.Sprintf(`{replicas: %d}`, n)
	}
	if identity != "" {
		selector = "celld.eric.dev/fleet-uid=" + identity
	}
	return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"my-fleet","namespace":"fleets"},"spec":` +
		map[bool]string{true: `{}`, false: fmt.Sprintf(`{"replicas":%d}`, n)}[spec == `{}`] + `,"status":{"replicas":3,"selector":"` + selector + `"}}`
}

func TestWorkloadDelete(t *testing.T) {
	tests := map[string]struct {
		fleet  rules.Fleet
		patch  string
		orphan bool
		want   []string
	}{
		"live":                     {fleet: live(t), want: []string{"metadata.name: is live"}},
		"live, orphan":             {fleet: live(t), orphan: true, want: []string{"metadata.name: is live", "propagationPolicy: Orphan"}},
		"terminating":              {fleet: live(t, terminating)},
		"terminating, orphan":      {fleet: live(t, terminating), orphan: true, want: []string{"propagationPolicy: Orphan"}},
		"gone":                     {fleet: live(t, `{metadata: {name: other}}`)},
		"gone, orphan":             {fleet: live(t, `{metadata: {name: other}}`), orphan: true},
		"same name, other bucket":  {fleet: live(t, `{spec: {storage: {bucket: s3://other}}}`)},
		"left by another kind":     {fleet: live(t, bucket)},
		"deleted already":          {fleet: live(t), patch: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`},
		"deleted already, orphans": {fleet: live(t), orphan: true, patch: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`, want: []string{"propagationPolicy: Orphan"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, rules.Delete, edited(t, rendered(t, fleet(t, persistent), "StatefulSet/my-fleet"), tc.patch), "", calm(tc.fleet))
			in.Orphan = tc.orphan
			for _, user := range []string{human, healer} {
				in.User = user
				requireVerdict(t, tc.want, rules.Review(in))
			}
		})
	}
}
