// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const (
	healer      = rulestest.Healer
	human       = rulestest.Human
	foreign     = rulestest.Foreign
	persistent  = rulestest.Persistent
	bucket      = rulestest.Bucket
	terminating = rulestest.Terminating
)

var (
	merged     = rulestest.Merged
	fleet      = rulestest.Fleet
	rendered   = rulestest.Rendered
	edited     = rulestest.Edited
	parsed     = rulestest.Parsed
	live       = rulestest.Live
	calm       = rulestest.Calm
	claim      = rulestest.Claim
	input      = rulestest.Input
	fleetInput = rulestest.FleetInput
)

func known[T any](value T) rules.Fact[T] { return rulestest.Known(value) }

// requireVerdict compares the outcome, and the fields of the reasons with a word of each.
func requireVerdict(t testing.TB, want []string, v rules.Verdict) {
	t.Helper()
	if len(want) == 0 {
		require.Equal(t, rules.Allow, v.Outcome, "%v", v.Reasons)
		return
	}
	require.Equal(t, rules.Deny, v.Outcome, "%v", v)
	require.Len(t, v.Reasons, len(want), "%v", v.Reasons)
	for i, w := range want {
		path, problem, _ := strings.Cut(w, ": ")
		require.Equal(t, path, v.Reasons[i].Field)
		require.Contains(t, v.Reasons[i].Problem, problem)
		require.NotEmpty(t, v.Reasons[i].Remedy)
	}
}

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
