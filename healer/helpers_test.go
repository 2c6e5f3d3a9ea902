// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/render"
)

// noon is when simulated clusters begin.
var noon = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

var policy = rules.Policy{ReplacementDelay: rules.DefaultReplacementDelay}

// blank returns an empty object of a kind that the healer knows.
func blank(kind string) client.Object {
	object, err := newObject(kind)
	if err != nil {
		panic(err)
	}
	return object
}

func replicasOf(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func emptyStatus() *v1alpha1.FleetStatus { return &v1alpha1.FleetStatus{} }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wellFleet is what is seen of a fleet of three members that have been Ready for an hour.
func wellFleet() *rules.Snapshot {
	const identity = "aaaaaaaa-0000-5000-8000-000000000001"
	s := &rules.Snapshot{
		Fleet: rules.Fleet{
			Kind: v1alpha1.KindPersistentFleet, Namespace: "fleets", Name: "my-fleet", UID: "uid", Persistent: true,
			WorkloadKind: rules.KindStatefulSet, Identity: identity, Finalizer: true,
		},
		Target:      3,
		Reservation: &rules.Reservation{Identity: identity},
		Workload: &rules.Workload{
			Identity: identity, Observed: true, Replicas: 3, Existing: 3, Ready: 3, Updated: 3, CurrentRevision: "1", NextRevision: "1",
		},
	}
	for i := range 3 {
		s.Members = append(s.Members, rules.Member{
			Ordinal: i, Name: render.PodName("my-fleet", i),
			Pod:   &rules.Pod{Ours: true, Controlled: true, Node: "node", Ready: true, Proven: true, Revision: "1", Transition: noon.Add(-time.Hour)},
			Claim: &rules.Claim{Identity: identity, Bound: true},
		})
	}
	return s
}

func count(n int) int32 { return int32(n) }
