// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// newBucketFleet is a BucketFleet whose members all run.
func newBucketFleet(t *testing.T, workload v1alpha1.Workload, mode v1alpha1.PlacementMode, replicas int32, more int) *subject {
	t.Helper()
	w := newCluster(t).World(t)
	for i := range more {
		w.AddNode(w.Zones[i%len(w.Zones)])
	}
	f := &v1alpha1.BucketFleet{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "my-fleet"}}
	f.Spec.Workload = workload
	s := &subject{Fleet: f, t: t, w: w, running: startHealer(t, w)}
	s.basics(replicas)
	s.Shared().Placement.Mode = mode
	if _, capped := v1alpha1.ZoneCap(f); capped {
		most := int32(2)
		s.Shared().Placement.MaxPerZone = &most
	}
	s.sync()
	s.waitReady()
	s.age()
	return s
}

func TestOrderedBucketFleetHasItsZones(t *testing.T) {
	t.Parallel()
	s := newBucketFleet(t, v1alpha1.WorkloadOrdered, v1alpha1.PlacementStrict, 5, 2)
	for ordinal := range 5 {
		require.Equal(t, s.w.Zones[ordinal%3], s.w.ZoneOf(s.pod(ordinal)), "member %d", ordinal)
	}
	// A member that goes while the fleet is paused returns to its zone.
	s.maintain(v1alpha1.Maintenance{Paused: true})
	s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
	gone := s.pod(4)
	s.w.Delete(gone)
	s.w.WaitReplaced(gone)
	require.Equal(t, s.w.Zones[1], s.w.ZoneOf(s.w.WaitReady(gone.Name)))
}

func TestOrderedRelaxedBucketFleetIsLetGo(t *testing.T) {
	t.Parallel()
	s := newBucketFleet(t, v1alpha1.WorkloadOrdered, v1alpha1.PlacementRelaxed, 3, 0)
	for ordinal := range 3 {
		require.Empty(t, s.pod(ordinal).Spec.NodeSelector)
	}
}

func TestOrderedBucketFleetStuckPodIsForcedAway(t *testing.T) {
	t.Parallel()
	s := newBucketFleet(t, v1alpha1.WorkloadOrdered, v1alpha1.PlacementStrict, 3, 0)
	stuck := s.pod(1)
	s.w.Stick(stuck.Name)
	s.w.Delete(stuck)
	s.holdsTerminating(stuck)
	s.passMinutes(3)
	s.w.WaitReplaced(stuck)
	s.waitReady()
}

// Both workloads grow in one step, shrink one by one, stop at once, and go. A
// Deployment shrinks when no Pod of it is ending, the other five minutes after
// the last removal as well.
func TestBucketFleetLife(t *testing.T) {
	t.Parallel()
	for _, workload := range []v1alpha1.Workload{v1alpha1.WorkloadDeployment, v1alpha1.WorkloadOrdered} {
		t.Run(string(workload), func(t *testing.T) {
			t.Parallel()
			s := newBucketFleet(t, workload, v1alpha1.PlacementStrict, 3, 2)
			require.Equal(t, []int32{3, 5}, s.counts(func() { s.scale(5); s.waitReady() }))
			s.age()
			require.Equal(t, []int32{5, 4, 3}, s.counts(func() {
				s.scale(3)
				if workload == v1alpha1.WorkloadOrdered {
					s.passRemoval(4)
				}
				s.waitReady()
			}))
			s.waitStatus("to list three members", func(status *v1alpha1.FleetStatus) bool { return len(status.Members) == 3 })

			s.maintain(v1alpha1.Maintenance{Stopped: true})
			s.waitReason(v1alpha1.PhaseStopped, v1alpha1.ReasonStopped)
			s.maintain(v1alpha1.Maintenance{})
			s.waitReady()

			s.w.Delete(s.stored())
			s.requireGone(0)
		})
	}
}

// counts returns the replica counts that the healer set while something happens.
func (s *subject) counts(happens func()) []int32 {
	s.t.Helper()
	kind, before := "statefulsets", int32(0)
	if b, ok := s.Fleet.(*v1alpha1.BucketFleet); ok && b.Spec.Workload == v1alpha1.WorkloadDeployment {
		kind = "deployments"
		d := &appsv1.Deployment{ObjectMeta: s.named(s.GetName())}
		s.w.Get(d)
		before = *d.Spec.Replicas
	} else {
		before = s.replicas()
	}
	mark := s.w.Mark(s.t)
	happens()
	counts := []int32{before}
	for _, r := range s.w.Requests(s.t, mark, s.byHealer) {
		if r.Resource == kind && r.Writes() && r.Code == 200 {
			var set appsv1.StatefulSet
			decode(s.t, r.Body, &set)
			counts = append(counts, *set.Spec.Replicas)
		}
	}
	return counts
}

func TestRoutingReady(t *testing.T) {
	t.Parallel()
	routes := map[string]struct {
		routing v1alpha1.Routing
		answer  func(s *subject) // as a gateway or an ingress controller does
	}{
		"Ingress": {
			routing: v1alpha1.Routing{Ingress: &v1alpha1.IngressOptions{ClassName: "any"}},
			answer: func(s *subject) {
				route := &networkingv1.Ingress{ObjectMeta: s.named("my-fleet-routing")}
				s.w.Get(route)
				route.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
				require.NoError(s.t, s.w.Client.Status().Update(s.t.Context(), route))
			},
		},
		"HTTPRoute": {
			routing: v1alpha1.Routing{Gateway: &v1alpha1.GatewayReference{Name: "edge"}},
			answer: func(s *subject) {
				route := &gatewayv1.HTTPRoute{ObjectMeta: s.named("my-fleet-routing")}
				s.w.Get(route)
				var conditions []metav1.Condition
				for _, of := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
					conditions = append(conditions, metav1.Condition{Type: string(of), Status: metav1.ConditionTrue, Reason: string(of),
						ObservedGeneration: route.Generation, LastTransitionTime: metav1.Now()})
				}
				route.Status.Parents = []gatewayv1.RouteParentStatus{{
					ParentRef: gatewayv1.ParentReference{Name: "edge"}, ControllerName: "example.com/gateway", Conditions: conditions,
				}}
				require.NoError(s.t, s.w.Client.Status().Update(s.t.Context(), route))
			},
		},
	}
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFleet(t, 3)
			route.routing.Hostnames = []string{"cells.example.com"}
			route.routing.Source = &v1alpha1.RoutingSource{Namespace: "edge", PodLabels: map[string]string{"app": "edge"}}
			s.Shared().Routing = route.routing
			s.sync()
			s.waitReady()
			ready := func(want metav1.ConditionStatus) {
				s.t.Helper()
				s.waitStatus(fmt.Sprint("to be routed: ", want), func(status *v1alpha1.FleetStatus) bool {
					return meta.IsStatusConditionPresentAndEqual(status.Conditions, v1alpha1.ConditionRoutingReady, want)
				})
			}
			ready(metav1.ConditionFalse)
			route.answer(s)
			ready(metav1.ConditionTrue)

			// Another fleet's route is not this one's.
			s.Shared().Routing = v1alpha1.Routing{}
			s.sync()
			cluster.Wait(t, "no word of a route", s.w.Object(s.empty(), func() (bool, string) {
				return meta.FindStatusCondition(s.stored().State().Conditions, v1alpha1.ConditionRoutingReady) == nil, ""
			}))
		})
	}
}
