// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const (
	count3 = `[{op: add, path: /spec/replicas, value: 3}]`
	count0 = `[{op: add, path: /spec/replicas, value: 0}]`

	stopped = `{spec: {maintenance: {stopped: true}}}`
)

func disks(f rules.Fleet, n int) []rules.Claim {
	var out []rules.Claim
	for i := range n {
		out = append(out, rules.Claim{Name: render.ClaimName(f.Name, i), Identity: f.Identity})
	}
	return out
}

func TestWorkloadCreate(t *testing.T) {
	me := rulestest.Live(t)
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
		"three, by the healer":   {patch: count3, user: rulestest.Healer},
		"three on kept disks":    {patch: count3, facts: func(f *rules.Facts) { f.Claims = rulestest.Known(disks(me, 3)) }},
		"three on two disks":     {patch: count3, facts: func(f *rules.Facts) { f.Claims = rulestest.Known(disks(me, 2)) }, want: []string{"spec.replicas: is 3"}},
		"a count that is absurd": {patch: `[{op: add, path: /spec/replicas, value: 99999999999}]`, want: []string{"spec.replicas: is -1"}},
		"before its fleet": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = rulestest.Known([]rules.Fleet(nil)), rulestest.Known([]rules.Fleet(nil))
		}},
		"before its fleet, which is seen at the second look": {facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet(nil)) }},
		"before its fleet, whose name another identity has": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = rulestest.Known([]rules.Fleet(nil)), rulestest.Known([]rules.Fleet{rulestest.Live(t, `{spec: {identity: `+rulestest.Foreign+`}}`)})
		}, want: []string{"spec.template: PersistentFleet fleets/my-fleet uses"}},
		"before its fleet, on a bucket in use": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = rulestest.Known([]rules.Fleet(nil)), rulestest.Known([]rules.Fleet{rulestest.Live(t, `{metadata: {name: a}}`)})
		}, want: []string{"spec.template: PersistentFleet fleets/a uses"}},
		"fleet terminating": {facts: func(f *rules.Facts) {
			f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Terminating)})
		}, want: []string{label + ": being deleted"}},
		"bucket reserved for another": {facts: func(f *rules.Facts) {
			f.Reservations = rulestest.Reserved(me, rulestest.Foreign)
		}, want: []string{"spec.template: PersistentFleet others/first"}},
		"bucket of an older fleet": {facts: func(f *rules.Facts) {
			f.Rivals = rulestest.Known([]rules.Fleet{me, rulestest.Live(t, `{metadata: {name: a}}`)})
		}, want: []string{"spec.template: PersistentFleet fleets/a uses"}},
		"claim of another fleet": {facts: func(f *rules.Facts) {
			f.Claims = rulestest.Known([]rules.Claim{{Name: "data-my-fleet-0", Identity: me.Identity}, {Name: "data-my-fleet-1", Identity: rulestest.Foreign}, {Name: "data-my-fleet-2"}})
		}, want: []string{"spec.volumeClaimTemplates: data-my-fleet-1 is at", "spec.volumeClaimTemplates: data-my-fleet-2 is at a member's name and has no identity"}},
		"Deployment":             {fleet: rulestest.Bucket, facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Bucket)}) }},
		"Deployment of three":    {fleet: rulestest.Bucket, patch: count3, facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Bucket)}) }},
		"Deployment of none":     {fleet: rulestest.Bucket, patch: count0, facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Bucket)}) }},
		"Deployment of too many": {fleet: rulestest.Bucket, patch: `[{op: add, path: /spec/replicas, value: 101}]`, facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Bucket)}) }, want: []string{"spec.replicas: is 101"}},
		"no members, stopped":    {patch: count0, facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, stopped)}) }},
		"one member, stopped":    {facts: func(f *rules.Facts) { f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, stopped)}) }},
		"claim of another beyond the members": {facts: func(f *rules.Facts) {
			f.Claims = rulestest.Known([]rules.Claim{{Name: "data-my-fleet-3", Identity: rulestest.Foreign}, {Name: "data-my-fleet-50"}})
		}},
		"claim of another beyond the fleet's members, but asked for": {patch: `[{op: add, path: /spec/replicas, value: 4}]`, facts: func(f *rules.Facts) {
			f.Claims = rulestest.Known(append(disks(me, 3), rules.Claim{Name: "data-my-fleet-3"}))
		}, want: []string{"spec.replicas: is 4", "spec.volumeClaimTemplates: data-my-fleet-3"}},
		"claim of another, before its fleet": {facts: func(f *rules.Facts) {
			f.Fleets, f.Rivals = rulestest.Known([]rules.Fleet(nil)), rulestest.Known([]rules.Fleet(nil))
			f.Claims = rulestest.Known([]rules.Claim{{Name: "data-my-fleet-0"}, {Name: "data-my-fleet-1"}})
		}, want: []string{"spec.volumeClaimTemplates: data-my-fleet-0"}},
		"fleet deleted, and protected": {facts: func(f *rules.Facts) {
			f.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, rulestest.Terminating, `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`)})
		}},
		"members without a controller": {facts: func(f *rules.Facts) {
			f.Orphans = rulestest.Known([]string{"my-fleet-0", "my-fleet-2", "other-1", "my-fleet-x"})
		},
			want: []string{"spec.replicas: Pod my-fleet-2"}},
		"members without a controller, all of them kept": {patch: count3, facts: func(f *rules.Facts) {
			f.Claims, f.Orphans = rulestest.Known(disks(me, 3)), rulestest.Known([]string{"my-fleet-0", "my-fleet-1", "my-fleet-2"})
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
			base, object := rulestest.Persistent, "StatefulSet/my-fleet"
			if tc.fleet != "" {
				base, object = tc.fleet, "Deployment/my-fleet"
			}
			in := rulestest.Input(t, rules.Create, "", rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, base), object), tc.patch), rulestest.Calm(me))
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
	me, rival := rulestest.Live(t), rulestest.Live(t, `{metadata: {name: a}}`)
	none := rulestest.Known([]rules.Fleet(nil))
	reserved := rulestest.Reserved(me, rulestest.Foreign)
	tests := map[string]struct {
		facts func(*rules.Facts)
		want  string
	}{
		"rival":                      {func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet{rival}) }, "delete the fleet and create it anew with a bucket or prefix of its own"},
		"rival, before the fleet":    {func(f *rules.Facts) { f.Fleets, f.Rivals = none, rulestest.Known([]rules.Fleet{rival}) }, "create the fleet with a bucket or prefix of its own"},
		"reserved":                   {func(f *rules.Facts) { f.Reservations = reserved }, "delete the fleet and create it anew with a bucket or prefix of its own, or with spec.identity " + rulestest.Foreign + " to take the other over"},
		"reserved, before the fleet": {func(f *rules.Facts) { f.Fleets, f.Reservations = none, reserved }, "create the fleet with a bucket or prefix of its own, or with spec.identity " + rulestest.Foreign + " to take the other over"},
		"claim with another identity": {func(f *rules.Facts) {
			f.Claims = rulestest.Known([]rules.Claim{{Name: "data-my-fleet-1", Identity: rulestest.Foreign}})
		}, "if it is this fleet's disk, create the fleet, deleted first if it is there, with spec.identity " + rulestest.Foreign + "; else delete the claim, or create the fleet under another name"},
		"claim that lost its identity": {func(f *rules.Facts) { f.Claims = rulestest.Known([]rules.Claim{{Name: "data-my-fleet-1"}}) }, "if it is this fleet's disk, restore the claim with the label celld.eric.dev/fleet-uid: " + me.Identity + "; else delete the claim, or create the fleet under another name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rulestest.Input(t, rules.Create, "", rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), rulestest.Calm(me))
			tc.facts(&in.Facts)
			v := rules.Review(in)
			require.Equal(t, rules.Deny, v.Outcome)
			require.Len(t, v.Reasons, 1)
			require.Equal(t, tc.want, v.Reasons[0].Remedy)
		})
	}
}

func TestWorkloadReplicas(t *testing.T) {
	paused := rulestest.Live(t, `{spec: {maintenance: {paused: true}}}`)
	gone := rulestest.Live(t, `{metadata: {name: other}, spec: {storage: {bucket: s3://other}}}`)
	tests := map[string]struct {
		from, to int
		user     string
		fleet    rules.Fleet
		denied   bool
	}{
		"up":                 {from: 3, to: 4, fleet: rulestest.Live(t), denied: true},
		"down":               {from: 3, to: 2, fleet: rulestest.Live(t), denied: true},
		"to zero":            {from: 3, to: 0, fleet: rulestest.Live(t), denied: true},
		"from zero":          {from: 0, to: 3, fleet: rulestest.Live(t), denied: true},
		"from zero, paused":  {from: 0, to: 3, fleet: paused, denied: true},
		"down, paused":       {from: 3, to: 2, fleet: paused, denied: true},
		"to zero, paused":    {from: 3, to: 0, fleet: paused},
		"unchanged":          {from: 3, to: 3, fleet: rulestest.Live(t)},
		"by the healer":      {from: 3, to: 4, fleet: rulestest.Live(t), user: rulestest.Healer},
		"terminating":        {from: 3, to: 4, fleet: rulestest.Live(t, rulestest.Terminating), denied: true},
		"fleet is gone":      {from: 3, to: 4, fleet: gone},
		"one, written out":   {from: 1, to: 1, fleet: rulestest.Live(t)},
		"by somebody else's": {from: 3, to: 4, fleet: rulestest.Live(t), user: "system:serviceaccount:fleets:fleetwright-healer", denied: true},
	}
	for name, tc := range tests {
		var want []string
		if tc.denied {
			want = []string{fmt.Sprintf("spec.replicas: from %d to %d", tc.from, tc.to)}
		}
		set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
		object := func(n int) string {
			return rulestest.Edited(t, set, fmt.Sprintf(`[{op: add, path: /spec/replicas, value: %d}]`, n))
		}
		t.Run("object/"+name, func(t *testing.T) {
			in := rulestest.Input(t, rules.Update, object(tc.from), object(tc.to), rulestest.Calm(tc.fleet))
			in.User = tc.user
			requireVerdict(t, want, rules.Review(in))
		})
		t.Run("scale/"+name, func(t *testing.T) {
			in := rulestest.Input(t, rules.Update, scale(rulestest.Live(t).Identity, tc.from), scale(rulestest.Live(t).Identity, tc.to), rulestest.Calm(tc.fleet))
			in.Resource, in.Subresource, in.User = rules.StatefulSets, "scale", tc.user
			requireVerdict(t, want, rules.Review(in))
		})
	}
	t.Run("scale/of another", func(t *testing.T) {
		in := rulestest.Input(t, rules.Update, scale("", 1), scale("", 5), rulestest.Calm(rulestest.Live(t)))
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
		"live":                     {fleet: rulestest.Live(t), want: []string{"metadata.name: is live"}},
		"live, orphan":             {fleet: rulestest.Live(t), orphan: true, want: []string{"metadata.name: is live", "propagationPolicy: Orphan"}},
		"terminating":              {fleet: rulestest.Live(t, rulestest.Terminating)},
		"terminating, orphan":      {fleet: rulestest.Live(t, rulestest.Terminating), orphan: true, want: []string{"propagationPolicy: Orphan"}},
		"gone":                     {fleet: rulestest.Live(t, `{metadata: {name: other}}`)},
		"gone, orphan":             {fleet: rulestest.Live(t, `{metadata: {name: other}}`), orphan: true},
		"same name, other bucket":  {fleet: rulestest.Live(t, `{spec: {storage: {bucket: s3://other}}}`)},
		"another name":             {fleet: rulestest.Live(t, `{metadata: {name: other}, spec: {identity: `+rulestest.Live(t).Identity+`}}`)},
		"left by another kind":     {fleet: rulestest.Live(t, rulestest.Bucket)},
		"deleted already":          {fleet: rulestest.Live(t), patch: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`},
		"deleted already, orphans": {fleet: rulestest.Live(t), orphan: true, patch: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`, want: []string{"propagationPolicy: Orphan"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rulestest.Input(t, rules.Delete, rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), tc.patch), "", rulestest.Calm(tc.fleet))
			in.Orphan = tc.orphan
			for _, user := range []string{rulestest.Human, rulestest.Healer} {
				in.User = user
				requireVerdict(t, tc.want, rules.Review(in))
			}
		})
	}
}
