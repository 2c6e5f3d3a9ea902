// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

func TestFleet(t *testing.T) {
	me := rulestest.Live(t)
	reserved := func(identity string) rules.Fact[[]rules.Reservation] { return rulestest.Reserved(me, identity) }
	younger, older := `{metadata: {name: a, creationTimestamp: "2026-01-03T00:00:00Z"}}`, `{metadata: {name: a, creationTimestamp: "2026-01-01T00:00:00Z"}}`
	tests := map[string]struct {
		base, old, object string // merge patches; empty: there is none
		facts             func(*rules.Facts)
		want              []string
	}{
		"create":                      {object: `{}`},
		"create invalid":              {object: `{spec: {replicas: 1, runtimeImage: "celld:latest"}}`, want: []string{"spec.replicas: at least", "spec.runtimeImage: digest"}},
		"update":                      {old: `{}`, object: `{spec: {replicas: 4, placement: {maxPerZone: 2}, maintenance: {paused: true}}}`},
		"update invalid":              {old: `{}`, object: `{spec: {replicas: 0}}`, want: []string{"spec.replicas: from 1 to 100"}},
		"invalid before, spec alike":  {old: `{spec: {replicas: 0}}`, object: `{spec: {replicas: 0}, metadata: {labels: {team: a}, finalizers: []}}`},
		"invalid and being deleted":   {old: `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z"}}`, object: `{spec: {replicas: 0}}`},
		"status alone":                {old: `{}`, object: `{status: {phase: Ready}}`},
		"immutable":                   {old: `{}`, object: `{spec: {identity: "` + rulestest.Foreign + `", storage: {bucket: s3://other, region: eu-west-1, size: 5Gi, storageClassName: x}}}`, want: []string{"spec.identity: cannot be changed", "spec.storage.bucket: cannot be changed", "spec.storage.region: cannot be changed", "spec.storage.size: cannot be changed", "spec.storage.storageClassName: cannot be changed"}},
		"another spelling":            {old: `{}`, object: `{spec: {storage: {bucket: my-bucket, size: 10240Mi}}}`},
		"immutable workload":          {base: rulestest.Bucket, old: `{}`, object: `{spec: {workload: Ordered}}`, want: []string{"spec.workload: cannot be changed"}},
		"zone removed":                {old: `{}`, object: `{spec: {placement: {zones: [us-east-1a, us-east-1b], maxPerZone: 2}}}`},
		"bucket reserved for another": {object: `{}`, facts: func(f *rules.Facts) { f.Reservations = reserved(rulestest.Foreign) }, want: []string{"spec.storage.bucket: PersistentFleet others/first"}},
		"bucket reserved for itself":  {object: `{}`, facts: func(f *rules.Facts) { f.Reservations = reserved(me.Identity) }},
		"bucket in use": {object: `{}`, facts: func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet{rulestest.Live(t, younger)}) },
			want: []string{"spec.storage.bucket: PersistentFleet fleets/a uses"}},
		"bucket in use by a fleet without the reservation": {object: `{}`, facts: func(f *rules.Facts) {
			f.Reservations, f.Rivals = reserved(me.Identity), rulestest.Known([]rules.Fleet{rulestest.Live(t, older)})
		}},
		"bucket in use by a fleet of the same identity": {object: `{}`, facts: func(f *rules.Facts) {
			twin := rulestest.Live(t, `{metadata: {namespace: elsewhere}, spec: {identity: "`+me.Identity+`"}}`)
			f.Reservations, f.Rivals = reserved(me.Identity), rulestest.Known([]rules.Fleet{twin})
		}, want: []string{"spec.storage.bucket: elsewhere/my-fleet uses"}},
		"change beside a younger fleet": {old: `{}`, object: `{spec: {maintenance: {restartToken: again}}}`, facts: func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet{rulestest.Live(t, younger)}) }},
		"change beside an older fleet":  {old: `{}`, object: `{spec: {maintenance: {restartToken: again}}}`, facts: func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet{rulestest.Live(t, older)}) }},
		"change on another's bucket":    {old: `{}`, object: `{spec: {maintenance: {paused: true}}}`, facts: func(f *rules.Facts) { f.Reservations = reserved(rulestest.Foreign) }},
		"same name, other kind": {base: rulestest.Bucket, object: `{spec: {storage: {bucket: s3://other}}}`, facts: func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet(nil)) },
			want: []string{"metadata.name: the same Services"}},
		"same identity": {object: `{metadata: {name: b}, spec: {identity: "` + me.Identity + `", storage: {bucket: s3://other}}}`, facts: func(f *rules.Facts) { f.Rivals = rulestest.Known([]rules.Fleet(nil)) },
			want: []string{"spec.identity: the same disks"}},
		"bucket unknown":         {object: `{}`, facts: func(f *rules.Facts) { f.Rivals = rules.Fact[[]rules.Fleet]{} }},
		"delete":                 {old: `{}`},
		"delete protected":       {old: `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`, want: []string{"metadata.annotations[celld.eric.dev/protect]: protects"}},
		"delete protected false": {old: `{metadata: {annotations: {celld.eric.dev/protect: "false"}}}`},
		"delete again":           {old: `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z", annotations: {celld.eric.dev/protect: "true"}}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := rulestest.Calm(me)
			if tc.facts != nil {
				tc.facts(&facts)
			}
			if tc.base == "" {
				tc.base = rulestest.Persistent
			}
			in := rulestest.FleetInput(t, tc.base, tc.old, tc.object, facts)
			requireVerdict(t, tc.want, rules.Review(in))
			in.User, in.DryRun = rulestest.Healer, true
			requireVerdict(t, tc.want, rules.Review(in)) // nobody is exempt, and a dry run shows what would happen
		})
	}
}

func TestFleetWarnings(t *testing.T) {
	down := rulestest.Known(rules.Workload{Replicas: 4, Ready: 3})
	image := `{spec: {runtimeImage: "registry.test/celld@sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"}}`
	tests := map[string]struct {
		base, object string
		workload     rules.Fact[rules.Workload]
		want         []string
	}{
		"nothing": {object: `{spec: {replicas: 5}}`, workload: down},
		"fewer than are ready": {object: `{spec: {replicas: 3}}`, workload: rulestest.Known(rules.Workload{Replicas: 4, Ready: 4}),
			want: []string{"spec.replicas: 4 members are ready; those from my-fleet-3 on stop one at a time, and their claims are kept"}},
		"fewer, but not ready": {object: `{spec: {replicas: 3}}`, workload: down},
		"image while one is down": {object: image, workload: down,
			want: []string{"spec.runtimeImage: 1 of 4 members are not ready; the rollout takes down another only when they are, so the new image starts with those that are down"}},
		"image":              {object: image, workload: rulestest.Known(rules.Workload{Replicas: 4, Ready: 4})},
		"image, no workload": {object: image, workload: rules.Fact[rules.Workload]{State: rules.Absent}},
		"image, unreadable":  {object: image, workload: rules.Fact[rules.Workload]{State: rules.Failed, Why: "timeout"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.base == "" {
				tc.base = rulestest.Persistent
			}
			facts := rulestest.Calm(rulestest.Live(t))
			facts.Workload = tc.workload
			v := rules.Review(rulestest.FleetInput(t, tc.base, `{spec: {replicas: 4, placement: {maxPerZone: 4}}}`, rulestest.Merged(t, `{spec: {replicas: 4, placement: {maxPerZone: 4}}}`, tc.object), facts))
			require.Equal(t, rules.Allow, v.Outcome, "%v", v.Reasons)
			require.Equal(t, tc.want, v.Warnings)
		})
	}
}

// Of two fleets, each is older than the other in exactly one direction, also when they were created in the same second.
func TestOneOfTwoFleetsIsOlder(t *testing.T) {
	a, b := rulestest.Live(t, `{metadata: {name: a}}`), rulestest.Live(t, `{metadata: {name: b}}`)
	for name, want := range map[string][]string{"a": nil, "b": {"spec.storage.bucket: PersistentFleet fleets/a uses the bucket already: delete this fleet"}} {
		object := `{metadata: {name: ` + name + `}, spec: {replicas: 4, placement: {maxPerZone: 2}}}`
		v := rules.Review(rulestest.FleetInput(t, rulestest.Persistent, rulestest.Merged(t, object, `{spec: {replicas: 5}}`), object, rulestest.Calm(a, b)))
		require.Equal(t, rules.Allow, v.Outcome)
		require.Equal(t, want, v.Warnings)
	}
}

// A fleet on another's bucket can be changed, and each change says what has to be done.
func TestWarningOfALostBucket(t *testing.T) {
	me := rulestest.Live(t)
	facts := rulestest.Calm(me)
	facts.Reservations = rulestest.Reserved(me, rulestest.Foreign)
	v := rules.Review(rulestest.FleetInput(t, rulestest.Persistent, `{}`, `{spec: {maintenance: {paused: true}}}`, facts))
	require.Equal(t, rules.Allow, v.Outcome)
	require.Equal(t, []string{"spec.storage.bucket: the bucket belongs to PersistentFleet others/first, identity " + rulestest.Foreign +
		", by StorageReservation " + render.ReservationName(me.Bucket) + ": delete this fleet"}, v.Warnings)
}
