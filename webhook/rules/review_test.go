// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// requests are one request for each rule that needs facts, which the rule would admit if it knew them.
func requests(t testing.TB) map[string]*rules.Input {
	t.Helper()
	set := rendered(t, fleet(t, persistent), "StatefulSet/my-fleet")
	service := rendered(t, fleet(t, persistent), "Service/my-fleet")
	scaled := input(t, rules.Update, scale(live(t).Identity, 3), scale(live(t).Identity, 0), calm())
	scaled.Subresource = "scale"
	const unlabelled = `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`
	return map[string]*rules.Input{
		"fleet-bucket":      fleetInput(t, persistent, "", `{}`, calm()),
		"workload-owner":    input(t, rules.Update, set, edited(t, set, unlabelled), calm()),
		"workload-replicas": scaled,
		"workload-fleet":    input(t, rules.Create, "", set, calm()),
		"workload-disks":    input(t, rules.Create, "", set, calm()),
		"workload-orphans":  input(t, rules.Create, "", set, calm()),
		"workload-delete":   input(t, rules.Delete, set, "", calm()),
		"seal":              input(t, rules.Update, set, edited(t, set, image), calm()),
		"sealed-owner":      input(t, rules.Update, service, edited(t, service, unlabelled), calm()),
		"claim-create":      input(t, rules.Create, "", claim("data-my-fleet-0", foreign), calm()),
		"claim-identity":    input(t, rules.Update, claim("a", ""), claim("a", foreign), calm()),
		"claim-delete":      input(t, rules.Delete, claim("data-my-fleet-0", foreign), "", calm()),
	}
}

// What is not known is never taken for absent: closed rules ask for another try, open ones admit with a warning. It makes
// no difference whether a fact was not read or could not be.
func TestUnknownFacts(t *testing.T) {
	open := map[string]bool{"fleet-bucket": true, "claim-create": true}
	unreadable := rules.Facts{}
	unreadable.Fleets = rules.Fact[[]rules.Fleet]{State: rules.Failed, Why: "timeout"}
	unreadable.Claims = rules.Fact[[]rules.Claim]{State: rules.Failed, Why: "timeout"}
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
	set := edited(t, rendered(t, fleet(t, persistent), "StatefulSet/my-fleet"), image)
	requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(input(t, rules.Create, "", set, rules.Facts{})))
}

// A namespace that goes, or is gone, blocks nothing.
func TestTerminatingNamespace(t *testing.T) {
	me := live(t)
	for name, namespace := range map[string]rules.Fact[rules.Namespace]{
		"terminating": known(rules.Namespace{Terminating: true}), "gone": {State: rules.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			for _, in := range []*rules.Input{
				input(t, rules.Delete, claim("data-my-fleet-0", me.Identity), "", calm(me)),
				input(t, rules.Delete, rendered(t, fleet(t, persistent), "StatefulSet/my-fleet"), "", calm(me)),
				fleetInput(t, persistent, `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`, "", calm(me)),
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
	set := rendered(t, fleet(t, persistent), "StatefulSet/my-fleet")
	upgraded := rendered(t, fleet(t, persistent, `{spec: {maintenance: {restartToken: again}}}`), "StatefulSet/my-fleet")
	tests := map[string]struct {
		in   *rules.Input
		want rules.Needs
	}{
		"nothing changes":       {in: input(t, rules.Update, set, set, calm())},
		"upgrade":               {in: input(t, rules.Update, set, upgraded, calm())},
		"hand edit":             {in: input(t, rules.Update, set, edited(t, set, image), calm()), want: rules.Needs{Fleets: true, Live: true}},
		"first sync":            {in: input(t, rules.Create, "", set, calm()), want: rules.Needs{Fleets: true, Bucket: true, Claims: true, Orphans: true}},
		"fleet":                 {in: fleetInput(t, persistent, "", `{}`, calm()), want: rules.Needs{Fleets: true, Bucket: true}},
		"fleet, status":         {in: fleetInput(t, persistent, `{}`, `{status: {phase: Ready}}`, calm())},
		"claim of a member":     {in: input(t, rules.Create, "", claim("data-a-0", ""), calm()), want: rules.Needs{Fleets: true}},
		"claim of nobody":       {in: input(t, rules.Create, "", claim("postgres", ""), calm())},
		"disk":                  {in: input(t, rules.Delete, claim("data-a-0", foreign), "", calm()), want: rules.Needs{Fleets: true, Workload: true, Live: true}},
		"somebody else's":       {in: input(t, rules.Delete, claim("data-a-0", ""), "", calm())},
		"being deleted already": {in: input(t, rules.Update, edited(t, set, `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`), set, calm())},
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
		"deep":            {repeat(`{"a":`, 300) + `1` + repeat(`}`, 300), "nests deeper than 200 levels"},
		"wide":            {`{"a":[` + repeat(`1,`, 60_000) + `1]}`, "holds more than 50000 values"},
		"fleet, bad type": {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"PersistentFleet","spec":{"replicas":"x"}}`, "cannot unmarshal"},
		"long quantity":   {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"PersistentFleet","spec":{"storage":{"size":"1` + repeat("0", 90) + `e99999999"}}}`, "spec.storage.size is out of range"},
		"quantity, twice": {`{"apiVersion":"celld.eric.dev/v1alpha1","kind":"BucketFleet","spec":{"resources":{"limits":{"memory":"1"},"limits":{"cpu":1e999999999}}}}`, "spec.resources.limits is out of range"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rulestest.Object(tc.text)
			require.ErrorContains(t, err, tc.want)
		})
	}
}
