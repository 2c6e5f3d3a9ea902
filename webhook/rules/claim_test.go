// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const sets = "system:serviceaccount:kube-system:statefulset-controller"

const uidLabel = "metadata.labels[celld.eric.dev/fleet-uid]"

func TestClaimCreate(t *testing.T) {
	me := rulestest.Live(t).Identity
	tests := map[string]struct {
		name, identity string
		fleets         []rules.Fleet
		want           []string
	}{
		"a member's own":              {name: "data-my-fleet-0", identity: me, fleets: []rules.Fleet{rulestest.Live(t)}},
		"none":                        {name: "data-my-fleet-0", fleets: []rules.Fleet{rulestest.Live(t)}, want: []string{uidLabel + ": member's claim of PersistentFleet fleets/my-fleet"}},
		"another":                     {name: "data-my-fleet-7", identity: rulestest.Foreign, fleets: []rules.Fleet{rulestest.Live(t)}, want: []string{uidLabel + ": member's claim"}},
		"another name":                {name: "data-other-0", fleets: []rules.Fleet{rulestest.Live(t)}},
		"longer name":                 {name: "data-my-fleet-a-0", fleets: []rules.Fleet{rulestest.Live(t)}},
		"beyond any member":           {name: "data-my-fleet-100", fleets: []rules.Fleet{rulestest.Live(t)}},
		"no ordinal":                  {name: "data-my-fleet-01", fleets: []rules.Fleet{rulestest.Live(t)}},
		"of a fleet without disks":    {name: "data-my-fleet-0", fleets: []rules.Fleet{rulestest.Live(t, rulestest.Bucket)}},
		"of a terminating fleet":      {name: "data-my-fleet-0", fleets: []rules.Fleet{rulestest.Live(t, rulestest.Terminating)}},
		"before the fleet (restored)": {name: "data-my-fleet-0", identity: me},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Create, "", rulestest.Claim(tc.name, tc.identity), rulestest.Calm(tc.fleets...))))
		})
	}
}

func TestClaimUpdate(t *testing.T) {
	me := rulestest.Live(t).Identity
	tests := map[string]struct {
		name, was, is string
		fleets        []rules.Fleet
		want          []string
	}{
		"unchanged":                    {name: "data-my-fleet-0", was: me, is: me, fleets: []rules.Fleet{rulestest.Live(t)}},
		"removed":                      {name: "data-my-fleet-0", was: me, fleets: []rules.Fleet{rulestest.Live(t)}, want: []string{uidLabel + ": the disk is that of PersistentFleet fleets/my-fleet"}},
		"changed":                      {name: "data-my-fleet-0", was: me, is: rulestest.Foreign, fleets: []rules.Fleet{rulestest.Live(t)}, want: []string{uidLabel + ": the disk is that"}},
		"put on a foreign claim":       {name: "postgres", is: me, fleets: []rules.Fleet{rulestest.Live(t)}, want: []string{uidLabel + ": the disk would become that of"}},
		"moved between fleets":         {name: "data-my-fleet-0", was: me, is: rulestest.Foreign, fleets: []rules.Fleet{rulestest.Live(t), rulestest.Live(t, `{metadata: {name: b}, spec: {identity: "`+rulestest.Foreign+`"}}`)}, want: []string{uidLabel + ": the disk is that", uidLabel + ": the disk would become that of PersistentFleet fleets/b"}},
		"of a fleet that is gone":      {name: "data-my-fleet-0", was: me},
		"put on, for nobody":           {name: "postgres", is: rulestest.Foreign, fleets: []rules.Fleet{rulestest.Live(t)}},
		"of a fleet that is going":     {name: "data-my-fleet-0", was: me, fleets: []rules.Fleet{rulestest.Live(t, rulestest.Terminating)}, want: []string{uidLabel + ": the disk is that"}},
		"of a fleet with other bucket": {name: "data-my-fleet-0", was: me, fleets: []rules.Fleet{rulestest.Live(t, `{spec: {storage: {bucket: s3://other}}}`)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Update, rulestest.Claim(tc.name, tc.was), rulestest.Claim(tc.name, tc.is), rulestest.Calm(tc.fleets...))))
		})
	}
}

// owned is a claim with owners: ConfigMaps, or others as KIND/NAME.
func owned(t testing.TB, name, identity string, owners ...string) string {
	t.Helper()
	list := make([]string, len(owners))
	for i, o := range owners {
		kind, name, ok := strings.Cut(o, "/")
		if !ok {
			kind, name = "ConfigMap", o
		}
		list[i] = "{kind: " + kind + ", name: " + name + `, uid: "1"}`
	}
	return rulestest.Merged(t, rulestest.Claim(name, identity), `{metadata: {ownerReferences: [`+strings.Join(list, ", ")+`]}}`)
}

// An owner of a member's disk would take it along, whoever deletes the owner.
func TestClaimOwner(t *testing.T) {
	me := rulestest.Live(t).Identity
	denied := []string{"metadata.ownerReferences: an owner (ConfigMap a 1) would take the disk of my-fleet-0, a member of PersistentFleet fleets/my-fleet"}
	tests := map[string]struct {
		name, identity, user string
		was, is              []string
		fleets               []rules.Fleet
		update               bool // alone; the others are created alike
		want                 []string
	}{
		"first":                       {is: []string{"a"}, want: denied},
		"second":                      {was: []string{"b"}, is: []string{"b", "a"}, update: true, want: denied},
		"none":                        {},
		"stays":                       {was: []string{"a"}, is: []string{"a"}, update: true},
		"goes":                        {was: []string{"a"}, update: true},
		"of a removed member":         {name: "data-my-fleet-7", is: []string{"a"}, want: []string{"metadata.ownerReferences: the disk of my-fleet-7"}},
		"beyond any member":           {name: "data-my-fleet-100", is: []string{"a"}},
		"other name":                  {name: "backup", is: []string{"a"}},
		"other fleet's name":          {name: "data-other-0", is: []string{"a"}},
		"fleet is gone":               {is: []string{"a"}, fleets: []rules.Fleet{rulestest.Live(t, `{metadata: {name: other}}`)}},
		"fleet is going":              {is: []string{"a"}, fleets: []rules.Fleet{rulestest.Live(t, rulestest.Terminating)}},
		"fleet without disks":         {is: []string{"a"}, fleets: []rules.Fleet{rulestest.Live(t, rulestest.Bucket)}},
		"by the healer":               {is: []string{"a"}, user: rulestest.Healer, want: denied},
		"by the StatefulSet's own":    {is: []string{"StatefulSet/my-fleet", "Pod/my-fleet-0"}, user: sets},
		"by another StatefulSet's":    {is: []string{"StatefulSet/fleet"}, user: sets, want: []string{"metadata.ownerReferences: an owner (StatefulSet fleet 1)"}},
		"of another member":           {is: []string{"Pod/my-fleet-1"}, user: sets, want: []string{"metadata.ownerReferences: an owner (Pod my-fleet-1 1)"}},
		"by the garbage collector":    {is: []string{"a"}, user: "system:serviceaccount:kube-system:generic-garbage-collector"},
		"by the controllers as one":   {is: []string{"a"}, user: "system:kube-controller-manager"},
		"by one of the same name":     {is: []string{"a"}, user: "system:serviceaccount:fleets:statefulset-controller", want: denied},
		"of somebody else's identity": {identity: rulestest.Foreign, is: []string{"a"}, update: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.fleets == nil {
				tc.fleets = []rules.Fleet{rulestest.Live(t)}
			}
			tc.name, tc.identity, tc.user = or(tc.name, "data-my-fleet-0"), or(tc.identity, me), or(tc.user, rulestest.Human)
			in := rulestest.Input(t, rules.Update, owned(t, tc.name, tc.identity, tc.was...), owned(t, tc.name, tc.identity, tc.is...), rulestest.Calm(tc.fleets...))
			in.User = tc.user
			requireVerdict(t, tc.want, rules.Review(in))
			if !tc.update {
				in := rulestest.Input(t, rules.Create, "", owned(t, tc.name, tc.identity, tc.is...), rulestest.Calm(tc.fleets...))
				in.User = tc.user
				requireVerdict(t, tc.want, rules.Review(in))
			}
		})
	}
	t.Run("moved as well", func(t *testing.T) {
		in := rulestest.Input(t, rules.Update, rulestest.Claim("data-my-fleet-0", ""), owned(t, "data-my-fleet-0", me, "a"), rulestest.Calm(rulestest.Live(t)))
		requireVerdict(t, []string{uidLabel + ": the disk would become", denied[0]}, rules.Review(in))
	})
}

func TestClaimDelete(t *testing.T) {
	me := rulestest.Live(t).Identity
	three := rulestest.Known(rules.Workload{Replicas: 3})
	denied := []string{"metadata.name: a member of PersistentFleet fleets/my-fleet"}
	tests := map[string]struct {
		name, identity, user string
		fleet                rules.Fleet
		workload             rules.Fact[rules.Workload]
		want                 []string
	}{
		"current":                              {name: "data-my-fleet-2", identity: me, fleet: rulestest.Live(t), workload: three, want: denied},
		"removed":                              {name: "data-my-fleet-3", identity: me, fleet: rulestest.Live(t), workload: three},
		"not yet added":                        {name: "data-my-fleet-2", identity: me, fleet: rulestest.Live(t), workload: rulestest.Known(rules.Workload{Replicas: 2}), want: denied},
		"kept, of a new workload":              {name: "data-my-fleet-1", identity: me, fleet: rulestest.Live(t), workload: rulestest.Known(rules.Workload{Replicas: 1}), want: denied},
		"removed, of a new workload":           {name: "data-my-fleet-3", identity: me, fleet: rulestest.Live(t), workload: rulestest.Known(rules.Workload{Replicas: 1})},
		"to be removed":                        {name: "data-my-fleet-2", identity: me, fleet: rulestest.Live(t, `{spec: {replicas: 2}}`), workload: three, want: denied},
		"removed on request":                   {name: "data-my-fleet-2", identity: me, fleet: rulestest.Live(t, `{spec: {replicas: 2}}`), workload: rulestest.Known(rules.Workload{Replicas: 2})},
		"stopped":                              {name: "data-my-fleet-2", identity: me, fleet: rulestest.Live(t), workload: rulestest.Known(rules.Workload{}), want: denied},
		"beyond those stopped":                 {name: "data-my-fleet-3", identity: me, fleet: rulestest.Live(t), workload: rulestest.Known(rules.Workload{})},
		"no workload":                          {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: rules.Fact[rules.Workload]{State: rules.Absent}, want: denied},
		"by the healer":                        {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: three, user: rulestest.Healer},
		"by the namespace controller":          {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: three, user: "system:serviceaccount:kube-system:namespace-controller"},
		"by the garbage collector":             {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: three, user: "system:serviceaccount:kube-system:generic-garbage-collector"},
		"by a controller manager of one piece": {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: three, user: "system:kube-controller-manager"},
		"by another controller":                {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t), workload: three, user: "system:serviceaccount:kube-system:statefulset-controller", want: denied},
		"terminating fleet":                    {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t, rulestest.Terminating), workload: three},
		"another fleet's":                      {name: "data-my-fleet-0", identity: rulestest.Foreign, fleet: rulestest.Live(t), workload: three},
		"no identity":                          {name: "data-my-fleet-0", fleet: rulestest.Live(t), workload: three},
		"identity, other name":                 {name: "backup", identity: me, fleet: rulestest.Live(t), workload: three},
		"identity, other fleet's name":         {name: "data-other-0", identity: me, fleet: rulestest.Live(t), workload: three},
		"fleet without disks":                  {name: "data-my-fleet-0", identity: me, fleet: rulestest.Live(t, rulestest.Bucket), workload: three},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := rulestest.Calm(tc.fleet)
			facts.Workload = tc.workload
			in := rulestest.Input(t, rules.Delete, rulestest.Claim(tc.name, tc.identity), "", facts)
			in.User = or(tc.user, rulestest.Human)
			requireVerdict(t, tc.want, rules.Review(in))
		})
	}
}

func TestReservation(t *testing.T) {
	const base = `{"apiVersion":"celld.eric.dev/v1alpha1","kind":"StorageReservation","metadata":{"name":"s3-0"},"spec":{"bucket":"s3://my-bucket","identity":"` + rulestest.Foreign + `"}}`
	other := rulestest.Merged(t, base, `{spec: {identity: 9f14e45f-ceea-467f-a9d5-0c2a1f5b7e11}}`)
	noted := rulestest.Merged(t, base, `{metadata: {annotations: {celld.eric.dev/current-operation: x}}}`)
	tests := map[string]struct {
		operation   rules.Operation
		old, object string
		want        []string
	}{
		"create":     {operation: rules.Create, object: base},
		"spec":       {operation: rules.Update, old: base, object: other, want: []string{"spec: a bucket stays"}},
		"annotation": {operation: rules.Update, old: base, object: noted},
		"delete":     {operation: rules.Delete, old: base, want: []string{"metadata.name: keeps the bucket"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rulestest.Input(t, tc.operation, tc.old, tc.object, rules.Facts{})
			in.Namespace = ""
			for _, user := range []string{rulestest.Human, rulestest.Healer, "system:serviceaccount:kube-system:namespace-controller"} {
				in.User = user
				requireVerdict(t, tc.want, rules.Review(in))
			}
		})
	}
}

// A claim that is being deleted can be deleted again, and costs no read.
func TestClaimDeletedAgain(t *testing.T) {
	old := rulestest.Merged(t, rulestest.Claim("data-my-fleet-0", rulestest.Live(t).Identity), `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z"}}`)
	in := rulestest.Input(t, rules.Delete, old, "", rulestest.Calm(rulestest.Live(t)))
	requireVerdict(t, nil, rules.Review(in))
	require.Equal(t, rules.Needs{}, rules.Needed(in))
}
