// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// A seal says that some fleet renders to the workload. Whether it is the live fleet's is asked of that, when the workload is
// created, when it first gets an identity, and when it would move to another bucket.
func TestWorkloadOfTheLiveFleet(t *testing.T) {
	const (
		env     = "spec.template.spec.containers[celld].env"
		adopted = `{spec: {identity: "` + rulestest.Foreign + `"}}`
		azure   = `{spec: {storage: {bucket: "az://data", region: "", azureAccount: one}}}`
	)
	ordered := rulestest.Merged(t, adopted, `{spec: {workload: Ordered}}`)
	tests := map[string]struct {
		base, live  string // the live fleet, by a merge patch
		other, from string // what the workload is rendered from
		object      string
		want        []string
	}{
		"its own":               {live: adopted, from: adopted},
		"another bucket":        {live: adopted, from: rulestest.Merged(t, adopted, `{spec: {storage: {bucket: "s3://other"}}}`), want: []string{env + "[CELLD_BUCKET].value: \"s3://other\""}},
		"another prefix":        {live: adopted, from: rulestest.Merged(t, adopted, `{spec: {storage: {bucket: my-bucket/a}}}`), want: []string{env + "[CELLD_BUCKET].value: my-bucket/a"}},
		"another region":        {live: adopted, from: rulestest.Merged(t, adopted, `{spec: {storage: {region: eu-west-1}}}`), want: []string{env + "[AWS_REGION].value: eu-west-1"}},
		"the bucket, respelt":   {live: adopted, from: rulestest.Merged(t, adopted, `{spec: {storage: {bucket: my-bucket}}}`)},
		"its own account":       {live: rulestest.Merged(t, adopted, azure), from: rulestest.Merged(t, adopted, azure)},
		"another account":       {live: rulestest.Merged(t, adopted, azure), from: rulestest.Merged(t, adopted, azure, `{spec: {storage: {azureAccount: two}}}`), want: []string{env + "[AZURE_STORAGE_ACCOUNT_NAME].value: \"two\""}},
		"another name":          {live: adopted, from: rulestest.Merged(t, adopted, `{metadata: {name: b}}`), object: "StatefulSet/b", want: []string{"metadata.name: whose workload has its name"}},
		"Ordered, a Deployment": {base: rulestest.Bucket, live: adopted, other: rulestest.Bucket, from: ordered, want: []string{"kind: is a Deployment"}},
		"Deployment, Ordered":   {base: rulestest.Bucket, live: ordered, other: rulestest.Bucket, from: adopted, object: "Deployment/my-fleet", want: []string{"kind: is a StatefulSet"}},
		"of a fleet with disks": {live: adopted, other: rulestest.Bucket, from: ordered, want: []string{"kind: members have disks"}},
		"with disks, of one without": {base: rulestest.Bucket, live: ordered, other: rulestest.Persistent, from: adopted,
			want: []string{"kind: members have no disks"}},
		"Deployment, of a fleet with disks": {live: adopted, other: rulestest.Bucket, from: adopted, object: "Deployment/my-fleet", want: []string{"kind: is a StatefulSet"}},
	}
	for name, tc := range tests {
		base, other, object := or(tc.base, rulestest.Persistent), or(tc.other, rulestest.Persistent), or(tc.object, "StatefulSet/my-fleet")
		live := rulestest.Live(t, base, tc.live)
		is := rulestest.Rendered(t, rulestest.Fleet(t, other, tc.from), object)
		t.Run("created/"+name, func(t *testing.T) {
			facts := rulestest.Calm(live)
			facts.Rivals = rulestest.Known([]rules.Fleet(nil))
			requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Create, "", is, facts)))
			facts.Fleets = rulestest.Known([]rules.Fleet(nil)) // a sync may apply it before its fleet
			requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Create, "", is, facts)))
		})
		t.Run("labelled later/"+name, func(t *testing.T) {
			was := rulestest.Edited(t, is, `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`)
			facts := rulestest.Calm(live)
			facts.Rivals = rulestest.Known([]rules.Fleet(nil))
			requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Update, was, is, facts)))
		})
		if tc.base == "" && tc.other == "" && tc.object == "" {
			t.Run("updated/"+name, func(t *testing.T) {
				was := rulestest.Rendered(t, rulestest.Fleet(t, base, tc.live), object)
				requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Update, was, is, rulestest.Calm(live))))
				// What is wrong already forbids no other change.
				again := rulestest.Rendered(t, rulestest.Fleet(t, other, tc.from, `{spec: {maintenance: {restartToken: again}}}`), object)
				requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Update, is, again, rulestest.Calm(live))))
			})
		}
	}
}

// A workload that first gets an identity passes the rules of one that is created.
func TestWorkloadLabelledLater(t *testing.T) {
	me := rulestest.Live(t)
	three := rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), count3)
	was := rulestest.Edited(t, three, `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`)
	in := rulestest.Input(t, rules.Update, was, three, rulestest.Calm(me))
	requireVerdict(t, []string{"spec.replicas: is 3"}, rules.Review(in))
	require.Equal(t, rules.Needed(rulestest.Input(t, rules.Create, "", three, rulestest.Calm(me))), rules.Needed(in))
	in.Facts.Claims = rulestest.Known(disks(me, 3))
	requireVerdict(t, nil, rules.Review(in))
	in.Facts.Orphans = rulestest.Known([]string{"my-fleet-3"})
	requireVerdict(t, []string{"spec.replicas: Pod my-fleet-3"}, rules.Review(in))

	in = rulestest.Input(t, rules.Update, was, rulestest.Edited(t, three, image), rulestest.Calm())
	in.Facts.Claims = rulestest.Known(disks(me, 3))
	requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(in))
}

// Buckets are one where names are: in one store. A bucket within another's is refused as the same one is.
func TestBucketsThatOverlap(t *testing.T) {
	store := func(storage string) string { return `{metadata: {name: b}, spec: {storage: {` + storage + `}}}` }
	az := func(account, container string) string {
		return store(`bucket: "az://` + container + `", region: "", azureAccount: ` + account)
	}
	minio := func(name string) string {
		return store(`bucket: data, endpoint: {url: "https://` + name + `.test"}, store: ` + name)
	}
	for name, tc := range map[string]struct {
		one, two string
		taken    bool
	}{
		"the same":                     {one: store(`bucket: data`), two: store(`bucket: "s3://data"`), taken: true},
		"within":                       {one: store(`bucket: data`), two: store(`bucket: data/nodes`), taken: true},
		"within a prefix":              {one: store(`bucket: data/a`), two: store(`bucket: data/a/b`), taken: true},
		"beside":                       {one: store(`bucket: data/a`), two: store(`bucket: data/b`)},
		"beside, spelt alike":          {one: store(`bucket: data/a`), two: store(`bucket: data/ab`)},
		"another scheme":               {one: store(`bucket: data`), two: store(`bucket: "gs://data", region: ""`)},
		"two accounts":                 {one: az("one", "data"), two: az("two", "data")},
		"one account":                  {one: az("one", "data"), two: az("one", "data/a"), taken: true},
		"two stores":                   {one: minio("minio-a"), two: minio("minio-b")},
		"one store":                    {one: minio("minio-a"), two: minio("minio-a"), taken: true},
		"a store and one without name": {one: minio("minio-a"), two: store(`bucket: data`)},
	} {
		for _, c := range []struct{ name, one, two string }{{"", tc.one, tc.two}, {", the other way", tc.two, tc.one}} {
			t.Run(name+c.name, func(t *testing.T) {
				other := rulestest.Live(t, c.one, `{metadata: {namespace: others}}`)
				var want []string
				if tc.taken {
					want = []string{"spec.storage.bucket: the bucket "}
				}
				facts := rulestest.Calm()
				facts.Reservations = rulestest.Reserved(other, other.Identity)
				v := rules.Review(rulestest.FleetInput(t, rulestest.Persistent, "", c.two, facts))
				requireVerdict(t, want, v)

				facts = rulestest.Calm()
				facts.Rivals = rulestest.Known([]rules.Fleet{other})
				in := rulestest.FleetInput(t, rulestest.Persistent, "", c.two, facts)
				require.Equal(t, tc.taken, rules.Review(in).Outcome == rules.Deny, "%v", rules.Review(in))
				set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, c.two), "StatefulSet/b")
				facts.Fleets = rulestest.Known([]rules.Fleet{rulestest.Live(t, c.two, `{metadata: {creationTimestamp: "2026-01-04T00:00:00Z"}}`)})
				in = rulestest.Input(t, rules.Create, "", set, facts)
				require.Equal(t, tc.taken, rules.Review(in).Outcome == rules.Deny, "%v", rules.Review(in))
			})
		}
	}
}
