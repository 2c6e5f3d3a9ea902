// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A world is a cluster of the fake client and of models of what runs in one, with one healer.
type world struct {
	t     testing.TB
	ctx   context.Context
	clock *clocktesting.FakePassiveClock
	api   client.WithWatch // what the API server holds
	raw   clientgotesting.ObjectTracker
	trace strings.Builder

	nodes     []*node
	volumes   map[types.UID]string // zone of each claim's volume
	hosts     map[types.UID]string // and its node, where it is bound to that
	broken    map[string]corev1.ContainerStateWaiting
	bad       map[string]badSetting // by values of CELLD_LOG
	used      map[string]string     // by disk: the value that was used on it last
	mounted   map[types.UID]bool    // claims whose PersistentVolume is missing, and whose disk is not
	gates     map[string]corev1.ConditionStatus
	ending    time.Duration     // what a member takes to end
	answers   map[string]string // of the API server, by verb, kind and name
	idled     map[string][]time.Time
	truth     map[types.UID]seen
	proven    map[string]bool      // revisions on which a member was up
	names     map[types.UID]string // of Pods that are on a node
	ended     map[string]time.Time // when the last Pod of a name was gone
	late      func() error         // a write that a healer which stopped had in hand
	halted    map[string]bool      // models that do not run
	deadSince map[string]time.Time
	// newestFirst makes the scheduler look at the last member first.
	newestFirst bool
	noVolumes   bool // provisioning fails
	// localVolumes binds each new volume to its node.
	localVolumes bool
	// maxUnavailable switches the feature MaxUnavailableStatefulSet on.
	maxUnavailable bool
	uids           int
	wrote          int  // by anybody
	deciding       bool // what is written now comes of a decision, not of a test
	failed         int  // looks of the healer in a row, which its queue backs off from

	healer *Healer
	// onWrite is called before each write of the healer.
	onWrite func()
	faults  faults
	frozen  client.WithWatch // what the caches show, nil for what there is
	shown   shown
}

// faults are what an interceptor does to the healer's writes.
type faults struct {
	writes     int           // since the last restart
	stopAfter  int           // the healer dies after so many writes; -1 for never
	loseAfter  int           // the answer to the write after so many is lost; -1 for never
	failAfter  int           // the write after so many fails; -1 for never
	stopped    bool          // it died
	slow       time.Duration // what each live list takes
	violations []string
}

const simNamespace = "fleets"

var simRequest = types.NamespacedName{Namespace: simNamespace, Name: "my-fleet"}

func newWorld(t testing.TB) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	w := &world{
		t: t, ctx: log.IntoContext(context.Background(), logr.Discard()), clock: clocktesting.NewFakePassiveClock(noon),
		raw:     clientgotesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder()),
		volumes: map[types.UID]string{}, hosts: map[types.UID]string{}, broken: map[string]corev1.ContainerStateWaiting{}, halted: map[string]bool{},
		deadSince: map[string]time.Time{}, answers: map[string]string{}, idled: map[string][]time.Time{},
		truth: map[types.UID]seen{}, proven: map[string]bool{}, names: map[types.UID]string{}, ended: map[string]time.Time{},
		bad: map[string]badSetting{}, used: map[string]string{}, mounted: map[types.UID]bool{}, gates: map[string]corev1.ConditionStatus{},
	}
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(w.raw).
		WithStatusSubresource(&v1alpha1.PersistentFleet{}, &v1alpha1.BucketFleet{}).Build()
	for _, zone := range []string{"a", "b", "c"} {
		w.nodes = append(w.nodes, &node{name: "node-" + zone, zone: "us-east-1" + zone})
	}
	require.NoError(t, w.api.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: simNamespace}}))
	w.restart()
	return w
}

// restart starts another healer, which knows nothing of what the one before it did, and fills its caches anew.
func (w *world) restart() {
	w.frozen, w.failed = nil, 0
	clear(w.idled)
	w.faults = faults{stopAfter: -1, loseAfter: -1, failAfter: -1, violations: w.faults.violations}
	live := interceptor.NewClient(w.api, interceptor.Funcs{Get: w.liveGet, List: w.liveList})
	w.healer = &Healer{
		Client: interceptor.NewClient(w.api, interceptor.Funcs{
			Get: w.cachedGet, List: w.cachedList, Create: w.create, Delete: w.delete, Patch: w.patch, Apply: w.apply, SubResourcePatch: w.patchStatus,
		}),
		Live: live, Recorder: w, Clock: w.clock, Policy: policy, Zone: w.zoneShown, Nodes: w.nodesShown, views: newViews(),
		tries: newTries(), memory: newMemory(w.clock, policy),
	}
	w.shown = nil
}

func (w *world) now() time.Time { return w.clock.Now() }

func (w *world) printf(format string, args ...any) {
	fmt.Fprintf(&w.trace, "%s %s\n", w.now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// Eventf takes the healer's events.
func (w *world) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	w.printf("event %s %s: %s", kind, reason, fmt.Sprintf(note, args...))
}

// add creates an object as the API server does.
func (w *world) add(o client.Object) {
	w.uids++
	o.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
	o.SetCreationTimestamp(metav1.NewTime(w.now()))
	o.SetGeneration(1)
	require.NoError(w.t, w.api.Create(w.ctx, o))
	w.wrote++
}

// update writes an object with its status. One that is going and has no finalizer left is gone.
func (w *world) update(o client.Object) {
	w.wrote++
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		require.NoError(w.t, w.api.Update(w.ctx, o))
		return
	}
	w.force(o)
}

// kubeletHold keeps a terminating Pod there until its kubelet, or a forced deletion, lets it go: the fake client keeps no
// object with a deletionTimestamp and without a finalizer. The healer does not see it.
const kubeletHold = "test/kubelet"

// remove deletes an object as the API server does: one with finalizers, or with a grace period, stays for a while.
func (w *world) remove(o client.Object, grace *int64, foreground bool) {
	w.wrote++
	pod, isPod := o.(*corev1.Pod)
	if isPod && grace == nil {
		grace = new(int64(30))
	}
	finalizers := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == kubeletHold })
	seconds := int64(0)
	if isPod && *grace > 0 {
		finalizers, seconds = append(finalizers, kubeletHold), *grace
	}
	if foreground {
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	if len(finalizers) == 0 {
		o.SetFinalizers(nil)
		if o.GetDeletionTimestamp() != nil {
			require.NoError(w.t, w.api.Update(w.ctx, o)) // which lets it go
			return
		}
		require.NoError(w.t, w.api.Delete(w.ctx, o))
		return
	}
	if isPod {
		if o.GetDeletionTimestamp() == nil || seconds < *pod.DeletionGracePeriodSeconds {
			pod.DeletionGracePeriodSeconds = &seconds
		}
	}
	if o.GetDeletionTimestamp() == nil || isPod && seconds == 0 {
		at := metav1.NewTime(w.now().Add(time.Duration(seconds) * time.Second))
		o.SetDeletionTimestamp(&at)
	}
	o.SetFinalizers(finalizers)
	w.force(o)
}

// force writes what the fake client refuses to write.
func (w *world) force(o client.Object) {
	gvk, err := w.api.GroupVersionKindFor(o)
	require.NoError(w.t, err)
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	var version int
	_, err = fmt.Sscan(o.GetResourceVersion(), &version)
	require.NoError(w.t, err)
	o.SetResourceVersion(fmt.Sprint(version + 1))
	require.NoError(w.t, w.raw.Update(resource, o, o.GetNamespace()))
}

// get reads an object into o without the detours of the fake client.
func (w *world) get(o client.Object, name string) bool {
	gvk, err := w.api.GroupVersionKindFor(o)
	require.NoError(w.t, err)
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	got, err := w.raw.Get(resource, simNamespace, name)
	found, err := exists(err)
	require.NoError(w.t, err)
	if found {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(got).Elem())
	}
	return found
}

func (w *world) fleet() v1alpha1.Fleet {
	p, b := &v1alpha1.PersistentFleet{}, &v1alpha1.BucketFleet{}
	if w.get(p, "my-fleet") {
		return p
	}
	if w.get(b, "my-fleet") {
		return b
	}
	return nil
}

func (w *world) set() *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	if !w.get(set, "my-fleet") {
		return nil
	}
	return set
}

func (w *world) pods() []corev1.Pod {
	list, err := w.raw.List(corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithKind("Pod"), simNamespace)
	require.NoError(w.t, err)
	items := list.(*corev1.PodList).Items
	slices.SortFunc(items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return items
}

func (w *world) claims() []corev1.PersistentVolumeClaim {
	list, err := w.raw.List(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"),
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), simNamespace)
	require.NoError(w.t, err)
	items := list.(*corev1.PersistentVolumeClaimList).Items
	slices.SortFunc(items, func(a, b corev1.PersistentVolumeClaim) int { return strings.Compare(a.Name, b.Name) })
	return items
}
