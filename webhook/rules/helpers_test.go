// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/rules"
)

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
