// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

func definition(name string) string {
	kind := map[string]string{rules.PersistentFleets: "PersistentFleet", rules.BucketFleets: "BucketFleet"}[strings.Split(name, ".")[0]]
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + name +
		`"},"spec":{"names":{"kind":"` + kind + `"}}}`
}

// A definition stays while there is anything that it defines, whatever that is.
func TestDefinitionDelete(t *testing.T) {
	for _, name := range rules.OurDefinitions() {
		in := rulestest.Input(t, rules.Delete, definition(name), "", rulestest.Calm(rulestest.Live(t)))
		require.Equal(t, rules.Needs{Instances: true}, rules.Needed(in))
		requireVerdict(t, []string{"metadata.name: deleting the definition deletes every"}, rules.Review(in))
		in.User = rulestest.Healer
		require.Equal(t, rules.Deny, rules.Review(in).Outcome)
		in.Facts.Instances = rulestest.Known(false)
		requireVerdict(t, nil, rules.Review(in))
		in.Facts.Instances = rules.Fact[bool]{State: rules.Absent}
		requireVerdict(t, nil, rules.Review(in))
	}
	for _, other := range []string{"certificates.cert-manager.io", "persistentfleets.example.com"} {
		in := rulestest.Input(t, rules.Delete, definition(other), "", rulestest.Calm(rulestest.Live(t)))
		requireVerdict(t, nil, rules.Review(in))
	}
	going := strings.Replace(definition(rules.OurDefinitions()[0]), `"metadata":{`, `"metadata":{"deletionTimestamp":"2026-01-03T00:00:00Z",`, 1)
	requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Delete, going, "", rulestest.Calm(rulestest.Live(t)))))
}

// A namespace stays while a protected fleet is in it.
func TestNamespaceDelete(t *testing.T) {
	const protect = `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`
	const namespace = `{"kind":"Namespace","metadata":{"name":"fleets"}}`
	for name, tc := range map[string]struct {
		fleet rules.Fleet
		old   string
		want  []string
	}{
		"protected":              {fleet: rulestest.Live(t, protect), want: []string{"metadata.name: PersistentFleet fleets/my-fleet has annotation"}},
		"protected and deleted":  {fleet: rulestest.Live(t, rulestest.Terminating, protect), want: []string{"metadata.name: would be deleted"}},
		"a cache":                {fleet: rulestest.Live(t, rulestest.Bucket, protect), want: []string{"metadata.name: BucketFleet fleets/my-fleet"}},
		"not protected":          {fleet: rulestest.Live(t)},
		"being deleted, already": {fleet: rulestest.Live(t, protect), old: strings.Replace(namespace, `{"name"`, `{"deletionTimestamp":"2026-01-03T00:00:00Z","name"`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			in := rulestest.Input(t, rules.Delete, or(tc.old, namespace), "", rulestest.Calm(tc.fleet))
			requireVerdict(t, tc.want, rules.Review(in))
		})
	}
}

// Nothing of a fleet is left by an orphaning deletion, so it is refused; and any value of the annotation but "false" protects.
func TestFleetDelete(t *testing.T) {
	protect := func(value string) string {
		return `{metadata: {annotations: {celld.eric.dev/protect: "` + value + `"}}}`
	}
	const protected = "metadata.annotations[celld.eric.dev/protect]: protects"
	for name, tc := range map[string]struct {
		old    string
		orphan bool
		want   []string
	}{
		"orphan":            {old: `{}`, orphan: true, want: []string{"propagationPolicy: Orphan keeps nothing"}},
		"orphan, protected": {old: protect("true"), orphan: true, want: []string{protected, "propagationPolicy: Orphan"}},
		"orphan, going":     {old: rulestest.Terminating, orphan: true},
		"True":              {old: protect("True"), want: []string{protected}},
		"yes":               {old: protect("yes"), want: []string{protected}},
		"empty":             {old: protect(""), want: []string{protected}},
		"false":             {old: protect("false")},
	} {
		t.Run(name, func(t *testing.T) {
			in := rulestest.FleetInput(t, rulestest.Persistent, tc.old, "", rulestest.Calm(rulestest.Live(t)))
			in.Orphan = tc.orphan
			requireVerdict(t, tc.want, rules.Review(in))
		})
	}
}
