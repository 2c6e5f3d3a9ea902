// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// requests are one request for each rule that needs facts, which the rule would admit if it knew them.
func requests(t testing.TB) map[string]*rules.Input {
	t.Helper()
	set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
	service := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "Service/my-fleet")
	scaled := rulestest.Input(t, rules.Update, scale(rulestest.Live(t).Identity, 3), scale(rulestest.Live(t).Identity, 0), rulestest.Calm())
	scaled.Subresource = "scale"
	const unlabelled = `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`
	return map[string]*rules.Input{
		"fleet-scale":       fleetScale(t, rules.PersistentFleets, 3, 4),
		"fleet-bucket":      rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rulestest.Calm()),
		"workload-owner":    rulestest.Input(t, rules.Update, set, rulestest.Edited(t, set, unlabelled), rulestest.Calm()),
		"workload-replicas": scaled,
		"workload-fleet":    rulestest.Input(t, rules.Create, "", set, rulestest.Calm()),
		"workload-disks":    rulestest.Input(t, rules.Create, "", set, rulestest.Calm()),
		"workload-orphans":  rulestest.Input(t, rules.Create, "", set, rulestest.Calm()),
		"workload-delete":   rulestest.Input(t, rules.Delete, set, "", rulestest.Calm()),
		"seal":              rulestest.Input(t, rules.Update, set, rulestest.Edited(t, set, image), rulestest.Calm()),
		"sealed-owner":      rulestest.Input(t, rules.Update, service, rulestest.Edited(t, service, unlabelled), rulestest.Calm()),
		"claim-create":      rulestest.Input(t, rules.Create, "", rulestest.Claim("data-my-fleet-0", rulestest.Foreign), rulestest.Calm()),
		"claim-identity":    rulestest.Input(t, rules.Update, rulestest.Claim("a", ""), rulestest.Claim("a", rulestest.Foreign), rulestest.Calm()),
		"workload-bucket":   rulestest.Input(t, rules.Create, "", set, rulestest.Calm()),
		"part-protected":    rulestest.Input(t, rules.Delete, service, "", rulestest.Calm()),
		"definition-delete": rulestest.Input(t, rules.Delete, definition(rules.OurDefinitions()[0]), "", rulestest.Calm()),
		"namespace-delete":  rulestest.Input(t, rules.Delete, `{"kind":"Namespace","metadata":{"name":"fleets"}}`, "", rulestest.Calm()),
		"claim-delete":      rulestest.Input(t, rules.Delete, rulestest.Claim("data-my-fleet-0", rulestest.Foreign), "", rulestest.Calm()),
	}
}

// What is not known is never taken for absent: closed rules ask for another try, open ones admit with a warning. It makes
// no difference whether a fact was not read or could not be.
func TestUnknownFacts(t *testing.T) {
	open := map[string]bool{"fleet-bucket": true, "claim-create": true, "namespace-delete": true, "fleet-scale": true}
	unreadable := rules.Facts{}
	unreadable.Fleets = rules.Fact[[]rules.Fleet]{State: rules.Failed, Why: "timeout"}
	unreadable.Claims = rules.Fact[[]rules.Claim]{State: rules.Failed, Why: "timeout"}
	unreadable.Instances = rules.Fact[bool]{State: rules.Failed, Why: "timeout"}
	unreadable.Orphans = rules.Fact[[]string]{State: rules.Failed, Why: "timeout"}
	for rule, in := range requests(t) {
		t.Run(rule, func(t *testing.T) {
			known := rules.Review(in)
			require.Equal(t, rules.Allow, known.Outcome, "%v", known)
			require.Contains(t, known.Judged, rules.Judgement{Rule: rule, Outcome: rules.Allow})
			for _, facts := range []rules.Facts{{}, unreadable} {
				in.Facts = facts
				v := rules.Review(in)
				if open[rule] {
					require.Equal(t, rules.Allow, v.Outcome)
					require.NotEmpty(t, v.Warnings)
					require.Contains(t, v.Warnings[0], "admitted without a check, since ")
					continue
				}
				require.Equal(t, rules.Unknown, v.Outcome)
				require.Contains(t, v.Judged, rules.Judgement{Rule: rule, Outcome: rules.Unknown})
				require.Contains(t, v.String(), "try again")
				require.Empty(t, v.Warnings)
			}
		})
	}
}

// A denial stands whatever else is unknown: another try would not help.
func TestDenialBeatsUnknown(t *testing.T) {
	set := rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), image)
	requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(rulestest.Input(t, rules.Create, "", set, rules.Facts{})))
}

// A namespace that goes, or is gone, blocks nothing.
func TestTerminatingNamespace(t *testing.T) {
	me := rulestest.Live(t)
	for name, namespace := range map[string]rules.Fact[rules.Namespace]{
		"terminating": rulestest.Known(rules.Namespace{Terminating: true}), "gone": {State: rules.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			for _, in := range []*rules.Input{
				rulestest.Input(t, rules.Delete, rulestest.Claim("data-my-fleet-0", me.Identity), "", rulestest.Calm(me)),
				rulestest.Input(t, rules.Delete, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), "", rulestest.Calm(me)),
				rulestest.FleetInput(t, rulestest.Persistent, `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`, "", rulestest.Calm(me)),
			} {
				require.Equal(t, rules.Deny, rules.Review(in).Outcome)
				in.Facts.Namespace = namespace
				v := rules.Review(in)
				require.Equal(t, rules.Allow, v.Outcome)
				for _, j := range v.Judged {
					require.Equal(t, rules.Allow, j.Outcome)
				}
				in.Facts.Namespace = rules.Fact[rules.Namespace]{State: rules.Failed}
				require.Equal(t, rules.Deny, rules.Review(in).Outcome)
			}
		})
	}
}

// Requests that no rule refuses cost no read, and those that need facts need no more than they use.
func TestFactsAreLazy(t *testing.T) {
	set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
	upgraded := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, `{spec: {maintenance: {restartToken: again}}}`), "StatefulSet/my-fleet")
	tests := map[string]struct {
		in   *rules.Input
		want rules.Needs
	}{
		"nothing changes":       {in: rulestest.Input(t, rules.Update, set, set, rulestest.Calm())},
		"upgrade":               {in: rulestest.Input(t, rules.Update, set, upgraded, rulestest.Calm())},
		"hand edit":             {in: rulestest.Input(t, rules.Update, set, rulestest.Edited(t, set, image), rulestest.Calm()), want: rules.Needs{Fleets: true, Live: true}},
		"first sync":            {in: rulestest.Input(t, rules.Create, "", set, rulestest.Calm()), want: rules.Needs{Fleets: true, Bucket: true, Claims: true, Orphans: true, Live: true}},
		"fleet":                 {in: rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rulestest.Calm()), want: rules.Needs{Fleets: true, Bucket: true}},
		"fleet, status":         {in: rulestest.FleetInput(t, rulestest.Persistent, `{}`, `{status: {phase: Ready}}`, rulestest.Calm())},
		"claim of a member":     {in: rulestest.Input(t, rules.Create, "", rulestest.Claim("data-a-0", ""), rulestest.Calm()), want: rules.Needs{Fleets: true}},
		"claim of nobody":       {in: rulestest.Input(t, rules.Create, "", rulestest.Claim("postgres", ""), rulestest.Calm())},
		"disk":                  {in: rulestest.Input(t, rules.Delete, rulestest.Claim("data-a-0", rulestest.Foreign), "", rulestest.Calm()), want: rules.Needs{Fleets: true, Workload: true, Live: true}},
		"somebody else's":       {in: rulestest.Input(t, rules.Delete, rulestest.Claim("data-a-0", ""), "", rulestest.Calm())},
		"being deleted already": {in: rulestest.Input(t, rules.Update, rulestest.Edited(t, set, `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`), set, rulestest.Calm())},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, rules.Needed(tc.in))
			if tc.want == (rules.Needs{}) {
				tc.in.Facts = rules.Facts{}
				require.Equal(t, rules.Allow, rules.Review(tc.in).Outcome)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a list":          {`[]`, "is a list, must be an object"},
		"fleet, bad type": {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"PersistentFleet","spec":{"replicas":"x"}}`, "cannot unmarshal"},
		"long quantity":   {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"PersistentFleet","spec":{"storage":{"size":"1` + strings.Repeat("0", 90) + `e99999999"}}}`, "spec.storage.size is out of range"},
		"quantity, twice": {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"BucketFleet","spec":{"resources":{"limits":{"memory":"1"},"limits":{"cpu":1e999999999}}}}`, "spec.resources.limits is out of range"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rulestest.Object(tc.text)
			require.ErrorContains(t, err, tc.want)
		})
	}
}
