// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// A subject is a fleet in a World, as Git has it, and the healer that looks
// after it.
type subject struct {
	v1alpha1.Fleet
	t testing.TB
	w *cluster.World
	*running
}

// newFleet makes a healed World and a PersistentFleet for it, not applied yet.
func newFleet(t *testing.T, replicas int32, options ...option) *subject {
	t.Helper()
	w := newCluster(t).World(t)
	return fleetIn(t, w, replicas, startHealer(t, w, options...))
}

func fleetIn(t testing.TB, w *cluster.World, replicas int32, r *running) *subject {
	t.Helper()
	f := &v1alpha1.PersistentFleet{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "my-fleet"}}
	f.Spec.Storage.StorageClassName = cluster.StorageClass
	s := &subject{Fleet: f, t: t, w: w, running: r}
	s.basics(replicas)
	return s
}

func (s *subject) basics(replicas int32) {
	spec, store := s.Shared(), s.Store()
	spec.Replicas = &replicas
	spec.RuntimeImage = s.w.Image()
	spec.ServiceAccountName = "default"
	spec.Placement.Zones = s.w.Zones
	store.Bucket, store.Region = "s3://"+s.w.Namespace, "us-east-1"
}

// newYoungFleet is a fleet whose members all run, and have just begun to, as
// the healer has: it knows nothing of the past. There may be more nodes than zones.
func newYoungFleet(t *testing.T, replicas int32, more int, options ...option) *subject {
	t.Helper()
	return newFleet(t, replicas, options...).begin(more)
}

// begin brings the fleet up, in a World with more nodes than zones.
func (s *subject) begin(more int) *subject {
	s.t.Helper()
	if more > 0 {
		s.allowTwo()
	}
	for i := range more {
		s.w.AddNode(s.w.Zones[i%len(s.w.Zones)])
	}
	s.sync()
	s.waitReady()
	return s
}

// allowTwo gives the fleet room for two members in each zone, if there are the nodes.
func (s *subject) allowTwo() { s.Shared().Placement.MaxPerZone = new(int32(2)) }

// newRoomyFleet is newReadyFleet in a World with more nodes than zones.
func newRoomyFleet(t *testing.T, replicas int32, more int, options ...option) *subject {
	t.Helper()
	s := newYoungFleet(t, replicas, more, options...)
	s.age()
	return s
}

// newReadyFleet is a fleet whose members all run, and have for so long that
// the healer, which has seen it, waits for nothing but what happens next.
func newReadyFleet(t *testing.T, replicas int32, options ...option) *subject {
	t.Helper()
	return newRoomyFleet(t, replicas, 0, options...)
}

// age lets the healer's first replacement delay pass: every member is settled,
// and the brake knows the past.
func (s *subject) age() { s.t.Helper(); s.passMinutes(11) }

// sync applies the fleet and what it renders to, as a sync tool does.
func (s *subject) sync() {
	s.t.Helper()
	s.syncFleet()
	s.syncObjects()
}

func (s *subject) syncFleet() {
	s.t.Helper()
	s.apply(func(kind string) bool { return kind == s.Kind() })
}
func (s *subject) syncObjects() {
	s.t.Helper()
	s.apply(func(kind string) bool { return kind != s.Kind() })
}

func (s *subject) apply(want func(kind string) bool) {
	s.t.Helper()
	objects, err := render.Render(s.Fleet, render.Options{})
	require.NoError(s.t, err)
	for _, object := range objects {
		text, err := object.MarshalJSON()
		require.NoError(s.t, err)
		u := &unstructured.Unstructured{}
		require.NoError(s.t, json.Unmarshal(text, &u.Object))
		if want(u.GetKind()) {
			require.NoError(s.t, s.w.Client.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(u),
				client.FieldOwner("sync-tool"), client.ForceOwnership), u.GetKind())
		}
	}
}

// maintain changes how the fleet is maintained, in Git and in the cluster.
func (s *subject) maintain(m v1alpha1.Maintenance) {
	s.t.Helper()
	s.Shared().Maintenance = m
	s.sync()
}

func (s *subject) scale(replicas int32) {
	s.t.Helper()
	s.Shared().Replicas = &replicas
	s.sync()
}

// stored returns the fleet as the API server has it.
func (s *subject) stored() v1alpha1.Fleet {
	s.t.Helper()
	f := s.empty()
	s.w.Get(f)
	return f
}

func (s *subject) empty() v1alpha1.Fleet {
	var f v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if s.Kind() == v1alpha1.KindBucketFleet {
		f = &v1alpha1.BucketFleet{}
	}
	f.SetNamespace(s.GetNamespace())
	f.SetName(s.GetName())
	return f
}

func (s *subject) waitStatus(awaited string, want func(*v1alpha1.FleetStatus) bool) *v1alpha1.FleetStatus {
	s.t.Helper()
	f := s.empty()
	cluster.Wait(s.t, "the fleet "+awaited, s.w.Object(f, func() (bool, string) { return want(f.State()), describe(f.State()) }))
	return f.State()
}

// waitReason waits until the fleet gives a reason, with a message that says
// something.
func (s *subject) waitReason(phase v1alpha1.Phase, reason v1alpha1.Reason, says ...string) {
	s.t.Helper()
	s.waitStatus(fmt.Sprintf("to be %s, %s: %q", phase, reason, says), func(status *v1alpha1.FleetStatus) bool {
		return status.Phase == phase && reasonOf(status) == string(reason) &&
			!slices.ContainsFunc(says, func(text string) bool { return !strings.Contains(messageOf(status), text) })
	})
}

// waitReady waits until every member that the spec asks for runs.
func (s *subject) waitReady() {
	s.t.Helper()
	replicas := *s.Shared().Replicas
	s.waitStatus(fmt.Sprintf("to have %d ready members", replicas), func(status *v1alpha1.FleetStatus) bool {
		return status.Phase == v1alpha1.PhaseReady && status.ReadyReplicas == replicas && status.AppliedReplicas == replicas &&
			meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady)
	})
}

// passMinutes lets time pass for the healer, once it has noted what there is: it
// counts from when it did.
func (s *subject) passMinutes(minutes int) {
	s.t.Helper()
	cluster.Wait(s.t, "the healer to have seen every Pod as it is", func(ctx ctx) (bool, string) {
		var pods corev1.PodList
		if err := s.w.Client.List(ctx, &pods, client.InNamespace(s.GetNamespace()), client.HasLabels{v1alpha1.LabelFleetUID}); err != nil {
			return false, err.Error()
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; !s.clock.hasNoted(pod) {
				return false, cluster.DescribePod(pod)
			}
		}
		return true, ""
	})
	s.clock.jump(time.Duration(minutes) * time.Minute)
}

func (s *subject) set() *appsv1.StatefulSet {
	s.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: s.named(s.GetName())}
	s.w.Get(set)
	return set
}

func (s *subject) replicas() int32 { s.t.Helper(); return *s.set().Spec.Replicas }

func (s *subject) pod(ordinal int) *corev1.Pod {
	s.t.Helper()
	return s.w.Pod(render.PodName(s.GetName(), ordinal))
}

func (s *subject) claim(ordinal int) *corev1.PersistentVolumeClaim {
	s.t.Helper()
	return s.w.Claim(render.ClaimName(s.GetName(), ordinal))
}

// disks identifies the claims and volumes of the first members.
func (s *subject) disks(count int) []string {
	s.t.Helper()
	var disks []string
	for ordinal := range count {
		claim := s.claim(ordinal)
		disks = append(disks, string(claim.UID)+" "+claim.Spec.VolumeName)
	}
	return disks
}

func (s *subject) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.GetNamespace(), Name: name}
}

// waitEvent waits until the healer has told of something.
func (s *subject) waitEvent(reason string) {
	s.t.Helper()
	cluster.Wait(s.t, "event "+reason, func(ctx ctx) (bool, string) {
		reasons, err := s.events(ctx)
		return slices.Contains(reasons, reason), fmt.Sprint(reasons, err)
	})
}

func (s *subject) events(ctx ctx) ([]string, error) {
	var events eventsv1.EventList
	err := s.w.Client.List(ctx, &events, client.InNamespace(s.GetNamespace()))
	var reasons []string
	for i := range events.Items {
		if events.Items[i].ReportingController == healer.FieldManager {
			reasons = append(reasons, events.Items[i].Reason)
		}
	}
	return reasons, err
}

// look makes the healer look at the fleet, and returns once it does.
func (s *subject) look() {
	s.t.Helper()
	before := s.clock.looks.Load()
	service := &corev1.Service{ObjectMeta: s.named(s.GetName())} // it watches that, and nothing depends on an annotation
	touch := fmt.Sprintf(`{"metadata":{"annotations":{"fleetwright.test/look":"%d"}}}`, before)
	require.NoError(s.t, s.w.Client.Patch(s.t.Context(), service, client.RawPatch(types.MergePatchType, []byte(touch))))
	cluster.Wait(s.t, "the healer to look", func(ctx) (bool, string) { return s.clock.looks.Load() > before, "" })
}

// holds shows that the healer looks at members and disks and leaves them alone.
func (s *subject) holds(claim string, members int) { s.t.Helper(); s.holdsAfter(0, claim, members) }

// holdsAfter is holds of what was there before some minutes passed for the healer.
func (s *subject) holdsAfter(minutes int, claim string, members int) {
	s.t.Helper()
	count, disks := s.replicas(), s.disks(members)
	pods := map[string]string{}
	for ordinal := range members {
		pods[s.pod(ordinal).Name] = string(s.pod(ordinal).UID)
	}
	if minutes > 0 {
		s.passMinutes(minutes)
	}
	s.look()
	cluster.Holds(s.t, settle, claim, func(ctx) (bool, string) {
		for ordinal := range members {
			if pod := s.pod(ordinal); pods[pod.Name] != string(pod.UID) || pod.DeletionTimestamp != nil {
				return false, cluster.DescribePod(pod)
			}
		}
		return s.replicas() == count && slices.Equal(s.disks(members), disks), fmt.Sprint(s.replicas(), s.disks(members))
	})
}

// settle is longer than the healer and the controllers take for anything that
// they would do.
const settle = 2 * time.Second

func reasonOf(status *v1alpha1.FleetStatus) string {
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}

func messageOf(status *v1alpha1.FleetStatus) string {
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}

func describe(status *v1alpha1.FleetStatus) string {
	return fmt.Sprintf("%s %s: %s (desired %d, applied %d, ready %d)", status.Phase, reasonOf(status), messageOf(status),
		status.DesiredReplicas, status.AppliedReplicas, status.ReadyReplicas)
}
