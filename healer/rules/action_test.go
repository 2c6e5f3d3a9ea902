// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSameAction(t *testing.T) {
	action := func(change func(*Action)) *Action {
		a := &Action{Verb: VerbReplace, Targets: []Ref{ref("Pod", "a"), ref("PersistentVolumeClaim", "b")}, Zones: []string{"z"}, Event: warning("x", "y")}
		change(a)
		return a
	}
	same := action(func(*Action) {})
	for name, c := range map[string]struct {
		change func(*Action)
		want   bool
	}{
		"equal":           {func(*Action) {}, true},
		"another event":   {func(a *Action) { a.Event = nil }, true},
		"a later version": {func(a *Action) { a.Targets[0].ResourceVersion = "11" }, true},
		"another UID":     {func(a *Action) { a.Targets[1].UID = "other" }, false},
		"another verb":    {func(a *Action) { a.Verb = VerbDeletePod }, false},
		"fewer targets":   {func(a *Action) { a.Targets = a.Targets[:1] }, false},
		"another count":   {func(a *Action) { a.Replicas = 3 }, false},
		"another zone":    {func(a *Action) { a.Zones = []string{"y"} }, false},
	} {
		require.Equal(t, c.want, same.Same(action(c.change)), name)
	}
	require.True(t, (*Action)(nil).Same(nil))
	require.False(t, same.Same(nil))
	require.False(t, (*Action)(nil).Same(same))
	require.Equal(t, "10", same.Targets[0].ResourceVersion, "comparing changes nothing")
}

// No write of a whole story goes without what it names: the trace of a deletion shows each.
