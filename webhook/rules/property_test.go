// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// A world is what is left of one fleet in a namespace, and what the rules see of it.
type world struct {
	fleet    rules.Fleet
	objects  []string // JSON, the fleet among them
	replicas int32
}

// facts are those of the world as it is now.
func (w *world) facts() rules.Facts {
	facts := rulestest.Calm()
	facts.Workload = rules.Fact[rules.Workload]{State: rules.Absent}
	var claims []rules.Claim
	for _, o := range w.objects {
		switch {
		case strings.Contains(o, `Fleet"`):
			facts.Fleets = rulestest.Known([]rules.Fleet{w.fleet})
		case strings.Contains(o, `"StatefulSet"`):
			facts.Workload = rulestest.Known(rules.Workload{Replicas: w.replicas})
		}
	}
	facts.Claims = rulestest.Known(claims)
	return facts
}

// Deleting everything of a fleet, in any order and by anybody, ends with nothing left: what is refused is admitted once the
// fleet itself is going. Scaling, pausing and stopping before that make no difference.
func TestDeletingEverythingEnds(t *testing.T) {
	base := rulestest.Fleet(t, rulestest.Persistent)
	var all []string
	for _, o := range []string{"PersistentFleet/my-fleet", "StatefulSet/my-fleet", "PodDisruptionBudget/my-fleet", "NetworkPolicy/my-fleet",
		"Service/my-fleet", "Service/my-fleet-peers"} {
		all = append(all, rulestest.Rendered(t, base, o))
	}
	for n := range 4 {
		all = append(all, rulestest.Claim(fmt.Sprintf("data-my-fleet-%d", n), rulestest.Live(t).Identity))
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{fleet: rulestest.Live(t), objects: slices.Clone(all), replicas: rapid.Int32Range(0, 4).Draw(rt, "replicas")}
		w.fleet.Paused = rapid.Bool().Draw(rt, "paused")
		finalizer := rapid.Bool().Draw(rt, "finalizer")
		for round := 0; len(w.objects) > 0; round++ {
			if round > 2 {
				rt.Fatalf("left for ever: %s", w.objects)
			}
			for _, object := range rapid.Permutation(slices.Clone(w.objects)).Draw(rt, "order") {
				user := rapid.SampledFrom([]string{rulestest.Human, rulestest.Healer, "system:serviceaccount:argocd:controller"}).Draw(rt, "user")
				w.delete(t, object, user, finalizer)
			}
			// The healer takes its finalizer off in the end.
			if w.fleet.Terminating {
				w.objects = slices.DeleteFunc(w.objects, func(o string) bool { return strings.Contains(o, `Fleet"`) })
			}
		}
	})
}

// delete deletes an object if the webhook lets it. A fleet with a finalizer stays, terminating.
func (w *world) delete(t *testing.T, object, user string, finalizer bool) {
	facts := w.facts()
	isFleet := strings.Contains(object, `Fleet"`)
	in := &rules.Input{Operation: rules.Delete, Namespace: "fleets", User: user, Healer: rulestest.Healer, Old: rulestest.Parsed(t, object), Facts: facts}
	if isFleet {
		in.Resource = rules.PersistentFleets
	} else {
		in.Resource = rulestest.Input(t, rules.Delete, object, "", facts).Resource
	}
	v := rules.Review(in)
	require.NotEqual(t, rules.Unknown, v.Outcome, "%v", v)
	switch {
	case v.Outcome == rules.Deny:
		require.False(t, w.fleet.Terminating, "%v", v)
	case isFleet && finalizer:
		w.fleet.Terminating = true
	default:
		w.objects = slices.DeleteFunc(w.objects, func(o string) bool { return o == object })
		if isFleet {
			w.fleet.Terminating = true
		}
	}
}

// A verdict depends on nothing but its input, and says the same each time.
func TestReviewIsAFunction(t *testing.T) {
	for name, in := range requests(t) {
		in.Facts = rulestest.Calm(rulestest.Live(t), rulestest.Live(t, `{metadata: {name: b}}`))
		first := rules.Review(in)
		for range 20 {
			require.Equal(t, first, rules.Review(in), name)
		}
	}
}
