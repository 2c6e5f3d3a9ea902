// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// Any two objects get a verdict for each rule, with facts and without.
func FuzzReview(f *testing.F) {
	set := rulestest.Rendered(f, rulestest.Fleet(f, rulestest.Persistent), "StatefulSet/my-fleet")
	f.Add([]byte(set), []byte(rulestest.Edited(f, set, image)), uint8(0))
	f.Add([]byte(rulestest.Claim("data-my-fleet-0", rulestest.Foreign)), []byte(rulestest.Claim("data-my-fleet-0", "")), uint8(9))
	f.Add([]byte(scale(rulestest.Foreign, 1)), []byte(scale(rulestest.Foreign, 2)), uint8(3))
	f.Add([]byte(rulestest.Merged(f, rulestest.Persistent)), []byte(rulestest.Merged(f, rulestest.Persistent, `{spec: {replicas: 4}}`)), uint8(1))
	resources := []string{rules.StatefulSets, rules.PersistentFleets, rules.BucketFleets, rules.StatefulSets, rules.Deployments,
		rules.Budgets, rules.NetworkPolicies, rules.Services, rules.Ingresses, rules.Claims, rules.Reservations,
		rules.Definitions, rules.Namespaces, rules.HTTPRoutes}
	me := rulestest.Live(f)
	f.Fuzz(func(t *testing.T, old, object []byte, which uint8) {
		was, err := rulestest.Object(string(old))
		if err != nil {
			return
		}
		is, err := rulestest.Object(string(object))
		if err != nil {
			return
		}
		for _, operation := range []rules.Operation{rules.Create, rules.Update, rules.Delete} {
			in := &rules.Input{Operation: operation, Resource: resources[int(which)%len(resources)], Namespace: "fleets", User: rulestest.Human, Healer: rulestest.Healer}
			switch {
			case which == 3, which > 200:
				in.Subresource = "scale"
			case which > 100:
				in.Subresource = "status"
			}
			if operation != rules.Delete {
				in.Object = is
			}
			if operation != rules.Create {
				in.Old = was
			}
			_ = rules.Needed(in)
			for _, facts := range []rules.Facts{{}, rulestest.Calm(me)} {
				in.Facts = facts
				v := rules.Review(in)
				require.Equal(t, v.Outcome == rules.Allow, len(v.Reasons) == 0, "%v", v)
			}
		}
	})
}
