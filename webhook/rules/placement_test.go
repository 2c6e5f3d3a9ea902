// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/effects"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// A change may not bring in members that the zones cannot hold. What is above the cap already can be changed otherwise, and
// brought down in steps.
func TestFleetCap(t *testing.T) {
	const (
		above = "spec.replicas: must be at most"
		seven = `{spec: {replicas: 7, placement: {maxPerZone: 2}}}`
		held  = `{status: {members: [{name: my-fleet-0, zone: us-east-1a}, {name: my-fleet-1, zone: us-east-1b}, {name: my-fleet-2, zone: us-east-1a}, {name: my-fleet-3}]}}`
	)
	holds := func(spec string) string { return rulestest.Merged(t, held, `{spec: {`+spec+`}}`) }
	tests := map[string]struct {
		base, old, object string // merge patches; empty: there is none
		want              []string
	}{
		"created above":                     {object: seven, want: []string{above}},
		"created above the default":         {object: `{spec: {replicas: 4}}`, want: []string{above}},
		"created at the cap":                {object: `{spec: {replicas: 6, placement: {maxPerZone: 2}}}`},
		"created above, Relaxed":            {object: `{spec: {replicas: 7, placement: {mode: Relaxed}}}`},
		"created above, each in its zone":   {base: rulestest.Bucket, object: `{spec: {replicas: 7, workload: Ordered}}`},
		"created above, a Deployment":       {base: rulestest.Bucket, object: `{spec: {replicas: 7}}`, want: []string{above}},
		"grown above":                       {old: `{}`, object: `{spec: {replicas: 4}}`, want: []string{above}},
		"grown with the cap":                {old: `{}`, object: `{spec: {replicas: 4, placement: {maxPerZone: 2}}}`},
		"above, and further":                {old: seven, object: `{spec: {replicas: 8, placement: {maxPerZone: 2}}}`, want: []string{above}},
		"above, and back in steps":          {old: `{spec: {replicas: 9, placement: {maxPerZone: 2}}}`, object: seven},
		"above, and paused":                 {old: seven, object: `{spec: {replicas: 7, placement: {maxPerZone: 2}, maintenance: {paused: true}}}`},
		"a zone less":                       {old: `{}`, object: `{spec: {placement: {zones: [us-east-1a, us-east-1b]}}}`, want: []string{above}},
		"a zone less, with the cap":         {old: `{}`, object: `{spec: {placement: {zones: [us-east-1a, us-east-1b], maxPerZone: 2}}}`},
		"Relaxed to Strict":                 {old: `{spec: {replicas: 7, placement: {mode: Relaxed}}}`, object: `{spec: {replicas: 7}}`, want: []string{above}},
		"lowered below what a zone holds":   {old: holds(`replicas: 3, placement: {maxPerZone: 3}`), object: holds(`replicas: 3`), want: []string{"spec.placement.maxPerZone: is 1, and zone us-east-1a holds 2 members"}},
		"lowered to what a zone holds":      {old: holds(`replicas: 4, placement: {maxPerZone: 3}`), object: holds(`replicas: 4, placement: {maxPerZone: 2}`)},
		"Strict below what a zone holds":    {old: holds(`placement: {mode: Relaxed}`), object: holds(`replicas: 3`), want: []string{"spec.placement.maxPerZone: is 1, and zone us-east-1a"}},
		"lowered beside the crowded zone":   {old: holds(`placement: {maxPerZone: 2}`), object: holds(`placement: {maxPerZone: 1, zones: [us-east-1b, us-east-1c, us-east-1d]}`)},
		"crowded already, and paused":       {old: holds(`replicas: 3`), object: holds(`replicas: 3, maintenance: {paused: true}`)},
		"crowded already, and a cap raised": {old: holds(`replicas: 3`), object: holds(`replicas: 3, placement: {maxPerZone: 2}`)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.base == "" {
				tc.base = rulestest.Persistent
			}
			v := rules.Review(rulestest.FleetInput(t, tc.base, tc.old, tc.object, rulestest.Calm(rulestest.Live(t, tc.base))))
			requireVerdict(t, tc.want, v)
		})
	}
	v := rules.Review(rulestest.FleetInput(t, rulestest.Persistent, `{}`, `{spec: {placement: {zones: [us-east-1a, us-east-1b]}}}`, rulestest.Calm(rulestest.Live(t))))
	require.Contains(t, v.String(), "set placement.maxPerZone to 2")
	require.Contains(t, v.String(), "in the same commit")
}

func fleetScale(t testing.TB, resource string, was, is int) *rules.Input {
	t.Helper()
	in := rulestest.Input(t, rules.Update, scale("", was), scale("", is), rulestest.Calm())
	in.Resource, in.Subresource, in.Name = resource, "scale", "my-fleet"
	return in
}

// The scale subresource of a fleet is no way around its zones.
func TestFleetScale(t *testing.T) {
	two := `{spec: {placement: {maxPerZone: 2}}}`
	for name, tc := range map[string]struct {
		fleet   rules.Fleet
		was, is int
		denied  bool
	}{
		"to the cap":        {fleet: rulestest.Live(t, two), was: 3, is: 6},
		"above":             {fleet: rulestest.Live(t, two), was: 3, is: 7, denied: true},
		"above, a cache":    {fleet: rulestest.Live(t, rulestest.Bucket), was: 3, is: 4, denied: true},
		"down, still above": {fleet: rulestest.Live(t, two), was: 9, is: 8},
		"Relaxed":           {fleet: rulestest.Live(t, `{spec: {placement: {mode: Relaxed}}}`), was: 3, is: 100},
		"another's":         {fleet: rulestest.Live(t, `{metadata: {name: other}}`), was: 3, is: 9},
	} {
		t.Run(name, func(t *testing.T) {
			resource := rules.PersistentFleets
			if tc.fleet.Kind == "BucketFleet" {
				resource = rules.BucketFleets
			}
			in := fleetScale(t, resource, tc.was, tc.is)
			in.Facts = rulestest.Calm(tc.fleet)
			var want []string
			if tc.denied {
				want = []string{"spec.replicas: the zones of " + tc.fleet.String()}
			}
			requireVerdict(t, want, rules.Review(in))
		})
	}
}

// A change that keeps members off their nodes is admitted with a warning, in the words of fleetwright plan.
func TestPlacementWarnings(t *testing.T) {
	const relaxed = `{spec: {placement: {mode: Relaxed}}}`
	tests := map[string]struct{ base, old, object, want string }{
		"zone":                 {old: relaxed, object: `{spec: {placement: {mode: Relaxed, zones: [us-east-1a, us-east-1b]}}}`, want: "members with a disk in us-east-1c: they find no node"},
		"zone, no disks":       {base: rulestest.Bucket, old: relaxed, object: `{spec: {placement: {mode: Relaxed, zones: [us-east-1a]}}}`, want: "members in us-east-1b, us-east-1c, to the other zones"},
		"label":                {object: `{spec: {placement: {nodeSelector: {disk: nvme}}}}`, want: "members on nodes without the label disk=nvme"},
		"toleration":           {old: `{spec: {placement: {tolerations: [{key: spot, operator: Exists}]}}}`, object: `{}`, want: "members on nodes with the taint spot"},
		"Relaxed to Strict":    {old: relaxed, object: `{}`, want: "members that share a host"},
		"cap":                  {old: `{spec: {placement: {maxPerZone: 3}}}`, object: `{spec: {placement: {maxPerZone: 2}}}`, want: "limits each zone to 2 members"},
		"Strict to Relaxed":    {object: relaxed},
		"a toleration more":    {object: `{spec: {placement: {tolerations: [{key: spot, operator: Exists}]}}}`},
		"nothing of placement": {object: `{spec: {maintenance: {restartToken: again}}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.base == "" {
				tc.base = rulestest.Persistent
			}
			if tc.old == "" {
				tc.old = `{}`
			}
			in := rulestest.FleetInput(t, tc.base, tc.old, tc.object, rulestest.Calm(rulestest.Live(t)))
			v := rules.Review(in)
			require.Equal(t, rules.Allow, v.Outcome, "%v", v.Reasons)
			if tc.want == "" {
				require.Empty(t, v.Warnings)
				return
			}
			require.Equal(t, "spec.placement: every member restarts, one at a time", v.Warnings[0])
			require.Contains(t, strings.Join(v.Warnings, "\n"), tc.want)
			for _, e := range effects.Placement(in.Old.Fleet, in.Object.Fleet) {
				require.Contains(t, v.Warnings, "spec.placement: "+e.Verb+" "+e.Text)
			}
		})
	}
}

// A fleet that was stored with mistakes can be paused, and mended one field at a time; a mistake that is new is refused.
func TestOldMistakes(t *testing.T) {
	const old = `{spec: {replicas: 101, placement: {mode: Relaxed}, lifecycle: {shutdownSeconds: 100, terminationGraceSeconds: 30}, ` +
		`env: [{name: CELLD_NODE}, {name: CELLD_X, value: a}, {name: CELLD_ADDR}]}}`
	tests := map[string]struct {
		change string
		want   []string
	}{
		"paused":                        {change: `{spec: {maintenance: {paused: true}}}`},
		"one of them mended":            {change: `{spec: {replicas: 100}}`},
		"an item before another mended": {change: `{spec: {env: [{name: CELLD_ADDR}]}}`},
		"a sum mended in steps":         {change: `{spec: {lifecycle: {shutdownSeconds: 50}}}`},
		"one mended, one new":           {change: `{spec: {replicas: 100, runtimeImage: "celld:latest"}}`, want: []string{"spec.runtimeImage: digest"}},
		"another value of one":          {change: `{spec: {replicas: 102}}`, want: []string{"spec.replicas: from 1 to 100"}},
		"one more of a kind":            {change: `{spec: {env: [{name: CELLD_NODE}, {name: CELLD_ADDR}, {name: CELLD_WATCH}]}}`, want: []string{"spec.env[2].name: CELLD_WATCH"}},
		"the same one twice":            {change: `{spec: {env: [{name: CELLD_NODE}, {name: CELLD_NODE}]}}`, want: []string{"spec.env[1]: CELLD_NODE", "spec.env[1].name: CELLD_NODE"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requireVerdict(t, tc.want, rules.Review(rulestest.FleetInput(t, rulestest.Persistent, old, rulestest.Merged(t, old, tc.change), rulestest.Calm(rulestest.Live(t)))))
		})
	}
}
