// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/render"
)

const simFleet = `
apiVersion: celld.eric.dev/v1alpha1
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`

func (w *world) command(t *testing.T, d *datadriven.TestData) {
	arg := func(i int) string {
		require.Greater(t, len(d.CmdArgs), i, d.Pos)
		return d.CmdArgs[i].Key
	}
	var n int
	switch d.Cmd {
	case "fleet": // create the fleet, or change it: a merge patch in YAML
		w.applyFleet(d.Input)
	case "start": // a fleet, synced, that has run for an hour, and whose members restarted since; nothing of it is shown
		w.started(d.Input)
	case "sync": // render the fleet, or what a merge patch would make of it, and apply what is rendered, without replicas
		w.sync(d.Input)
	case "step": // let the models work, without the healer
		w.step()
	case "reconcile": // let the healer work, without the models
		w.reconcile()
	case "run": // let both work, for some time
		w.settle(duration(t, d))
	case "advance":
		w.clock.SetTime(w.now().Add(duration(t, d)))
	case "show":
		w.show()
	case "kill-node", "lose-node", "cut-off-node", "revive-node":
		w.kill(arg(0), d.Cmd)
	case "add-node": // NAME ZONE [LABEL=VALUE...]
		w.addNode(d.CmdArgs)
	case "cordon", "uncordon": // NODE: no Pod is scheduled there
		w.node(arg(0)).cordoned = d.Cmd == "cordon"
	case "taint": // NODE [KEY...]: no Pod is scheduled there that does not tolerate these
		w.node(arg(0)).taints = keys(d.CmdArgs[1:])
	case "room": // NODE N: it takes so many Pods, 0 for any number
		n, err := strconv.Atoi(arg(1))
		require.NoError(t, err, d.Pos)
		w.node(arg(0)).room = n
	case "real": // what the scheduler does about selectors, taints, cordons and room is always modelled
	case "lose-volume", "lose-record": // MEMBER: its disk, or only the PersistentVolume, which a container that runs does not notice
		w.mounted[types.UID(w.disk(arg(0)))] = d.Cmd == "lose-record"
		w.lose("data-" + arg(0))
	case "provisioning": // fails, or works
		w.noVolumes = arg(0) == "fails"
	case "break": // a member's container waits: NAME REASON, for as long as it has this disk or until it is mended
		w.broken[w.disk(arg(0))] = corev1.ContainerStateWaiting{Reason: arg(1), Message: "as it is told"}
	case "bad": // VALUE REASON [used]: a container whose CELLD_LOG is VALUE waits, or only on a disk that was used without
		w.bad[arg(0)] = badSetting{reason: arg(1), usedOnly: len(d.CmdArgs) > 2}
	case "gate": // MEMBER STATUS: of a readiness gate of its Pod
		w.gates[arg(0)] = corev1.ConditionStatus(arg(1))
	case "end": // POD Failed|Succeeded: its containers end for ever, as those of an evicted one
		w.end(arg(0), corev1.PodPhase(arg(1)))
	case "ending": // how long a member takes to end, at most its grace period
		w.ending = duration(t, d)
	case "node-clock": // NODE OFFSET: of its kubelet, negative when it is slow
		ahead, err := time.ParseDuration(arg(1))
		require.NoError(t, err, d.Pos)
		w.node(arg(0)).clock = ahead
	case "mend":
		delete(w.broken, w.disk(arg(0)))
	case "halt", "resume": // a model: statefulset, scheduler, kubelet, pvc-protection, ...
		w.halted[arg(0)] = d.Cmd == "halt"
	case "newest-first": // the scheduler looks at the last member first
		w.newestFirst = true
	case "local-volumes": // new volumes are bound to their nodes
		w.localVolumes = true
	case "max-unavailable": // the StatefulSet controller runs with MaxUnavailableStatefulSet
		w.maxUnavailable = true
	case "scale": // the StatefulSet, by somebody else
		d.ScanArgs(t, "to", &n)
		w.scaleTo(w.set(), int32(n))
	case "own": // KIND NAME gets an owner reference
		o := w.object(d)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "somebody", UID: "somebody"}})
		w.update(o)
	case "delete": // KIND NAME [orphan|foreground|background]
		w.deleteByHand(d)
	case "label": // KIND NAME [IDENTITY]
		w.label(d)
	case "finalizer": // KIND NAME [FINALIZER]
		w.finalizer(d)
	case "stop-after": // the healer stops after so many writes
		d.ScanArgs(t, "n", &n)
		w.faults.stopAfter = w.faults.writes + n
	case "lose-answer": // of the write after so many
		d.ScanArgs(t, "n", &n)
		w.faults.loseAfter = w.faults.writes + n
	case "fail": // the write after so many
		d.ScanArgs(t, "after", &n)
		w.faults.failAfter = w.faults.writes + n
	case "answer": // VERB KIND NAME|* ANSWER: of the API server to such writes from now on: forbidden, quota, conflict, unchanged, or ok
		w.setAnswer(arg(0)+" "+arg(1)+" "+arg(2), arg(3))
	case "late": // the write that the healer which stopped had in hand arrives now
		require.NotNil(t, w.late, d.Pos)
		w.arrives()
	case "slow-reads": // each live list takes so long
		w.faults.slow = duration(t, d)
	case "clock-ahead": // that of the healer's node
		w.clockAhead(duration(t, d))
	case "freeze": // the caches
		w.freeze()
	case "thaw":
		w.frozen = nil
	case "claim": // a claim of somebody else's: NAME
		w.foreignClaim(arg(0))
	case "reserve": // the bucket, for somebody else
		w.reserve()
	default:
		d.Fatalf(t, "no command %s", d.Cmd)
	}
}

func (w *world) setAnswer(what, how string) {
	if delete(w.answers, what); how != "ok" {
		w.answers[what] = how
	}
}

func duration(t testing.TB, d *datadriven.TestData) time.Duration {
	if len(d.CmdArgs) == 0 {
		return 0
	}
	value, err := time.ParseDuration(d.CmdArgs[0].Key)
	require.NoError(t, err, d.Pos)
	return value
}

func (w *world) started(patch string) {
	w.applyFleet(patch)
	w.sync("")
	w.settle(10 * time.Minute)
	for _, pod := range w.pods() {
		w.remove(&pod, nil, false)
		w.settle(time.Second)
	}
	w.settle(noon.Add(time.Hour).Sub(w.now()))
	w.trace.Reset()
}

// disk identifies what a member runs on: its claim, or itself.
func (w *world) disk(member string) string {
	claim := &corev1.PersistentVolumeClaim{}
	if w.get(claim, "data-"+member) {
		return string(claim.UID)
	}
	return member
}

func (w *world) applyFleet(patch string) {
	f := w.patched(patch)
	if w.fleet() == nil {
		w.add(f)
		return
	}
	f.SetGeneration(f.GetGeneration() + 1)
	w.update(f)
}

// patched returns the fleet with a merge patch in YAML applied.
func (w *world) patched(patch string) v1alpha1.Fleet {
	old := w.fleet()
	base, err := yaml.YAMLToJSON([]byte(simFleet))
	require.NoError(w.t, err)
	if old != nil {
		base, err = json.Marshal(old)
		require.NoError(w.t, err)
	}
	change, err := yaml.YAMLToJSONStrict([]byte(cmp.Or(patch, "{}")))
	require.NoError(w.t, err)
	merged, err := jsonpatch.MergePatch(base, change)
	require.NoError(w.t, err)
	var f v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if _, bucket := old.(*v1alpha1.BucketFleet); bucket || strings.Contains(patch, "BucketFleet") {
		f = &v1alpha1.BucketFleet{}
	}
	require.NoError(w.t, yaml.Unmarshal(merged, f), "%s", merged)
	if p, ok := f.(*v1alpha1.PersistentFleet); ok && p.Spec.Storage.StorageClassName == "" {
		p.Spec.Storage.StorageClassName = "ebs-delete"
	}
	// A fleet has room to grow; a story about full zones says maxPerZone: 1.
	if placement := &f.Shared().Placement; old == nil && placement.MaxPerZone == nil {
		if _, capped := v1alpha1.ZoneCap(f); capped {
			placement.MaxPerZone = new(int32(2))
		}
	}
	return f
}

// sync applies what the fleet renders to, as a sync tool does.
func (w *world) sync(patch string) {
	objects, err := render.Render(w.patched(patch), render.Options{})
	require.NoError(w.t, err)
	for _, object := range objects[1:] {
		o := object.Typed.DeepCopyObject().(client.Object)
		old := o.DeepCopyObject().(client.Object)
		if !w.get(old, o.GetName()) {
			w.add(o)
			continue
		}
		if set, ok := o.(*appsv1.StatefulSet); ok {
			set.Spec.Replicas, set.Status = old.(*appsv1.StatefulSet).Spec.Replicas, old.(*appsv1.StatefulSet).Status
		}
		if dep, ok := o.(*appsv1.Deployment); ok {
			dep.Spec.Replicas, dep.Status = old.(*appsv1.Deployment).Spec.Replicas, old.(*appsv1.Deployment).Status
		}
		o.SetUID(old.GetUID())
		o.SetCreationTimestamp(old.GetCreationTimestamp())
		o.SetResourceVersion(old.GetResourceVersion())
		o.SetFinalizers(old.GetFinalizers())
		o.SetGeneration(old.GetGeneration() + 1)
		w.update(o)
	}
}

func (w *world) addNode(args []datadriven.CmdArg) {
	n := &node{name: args[0].Key, zone: args[1].Key, labels: map[string]string{}}
	for _, a := range args[2:] {
		n.labels[a.Key] = a.Vals[0]
	}
	w.nodes = append(w.nodes, n)
}

func keys(args []datadriven.CmdArg) []string {
	var out []string
	for _, a := range args {
		out = append(out, a.Key)
	}
	return out
}

func (w *world) object(d *datadriven.TestData) client.Object {
	o := blank(d.CmdArgs[0].Key)
	switch d.CmdArgs[0].Key { // of these the healer reads the metadata alone
	case "Service":
		o = &corev1.Service{}
	case "NetworkPolicy":
		o = &networkingv1.NetworkPolicy{}
	case "PodDisruptionBudget":
		o = &policyv1.PodDisruptionBudget{}
	}
	require.True(w.t, w.get(o, d.CmdArgs[1].Key), d.Pos)
	return o
}

func (w *world) deleteByHand(d *datadriven.TestData) {
	o := w.object(d)
	how := ""
	if len(d.CmdArgs) > 2 {
		how = d.CmdArgs[2].Key
	}
	if how == "orphan" {
		w.orphan(o.GetUID())
	}
	var grace *int64
	if how == "force" {
		grace = new(int64(0))
	}
	w.remove(o, grace, how == "foreground")
}

func (w *world) label(d *datadriven.TestData) {
	o := w.object(d)
	labels := map[string]string{}
	maps.Copy(labels, o.GetLabels())
	delete(labels, v1alpha1.LabelFleetUID)
	if len(d.CmdArgs) > 2 {
		labels[v1alpha1.LabelFleetUID] = strings.Replace(d.CmdArgs[2].Key, "ours", render.Identity(w.fleet()), 1)
	}
	o.SetLabels(labels)
	w.update(o)
}

func (w *world) finalizer(d *datadriven.TestData) {
	o := w.object(d)
	o.SetFinalizers(keys(d.CmdArgs[2:]))
	w.update(o)
}

// An offsetClock is another one that is set wrongly.
type offsetClock struct {
	clock.PassiveClock
	ahead time.Duration
}

func (c offsetClock) Now() time.Time                  { return c.PassiveClock.Now().Add(c.ahead) }
func (c offsetClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (w *world) clockAhead(by time.Duration) {
	w.healer.Clock, w.healer.Skew = offsetClock{w.clock, by}, &Skew{}
	w.healer.Skew.last.Store(int64(by))
}

// freeze keeps the caches at what they show now.
func (w *world) freeze() {
	builder := fake.NewClientBuilder().WithScheme(w.api.Scheme())
	for _, list := range []client.ObjectList{
		&v1alpha1.PersistentFleetList{}, &v1alpha1.BucketFleetList{}, &v1alpha1.StorageReservationList{},
		&appsv1.StatefulSetList{}, &appsv1.DeploymentList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{},
	} {
		require.NoError(w.t, w.api.List(w.ctx, list))
		builder.WithLists(list)
	}
	w.frozen = builder.Build()
}

func (w *world) foreignClaim(name string) {
	w.add(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: simNamespace, Name: name, Finalizers: []string{"kubernetes.io/pvc-protection"}},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	})
}

func (w *world) reserve() {
	values := rules.FleetValues(w.fleet())
	w.add(&v1alpha1.StorageReservation{ObjectMeta: metav1.ObjectMeta{Name: values.ReservationName}, Spec: v1alpha1.StorageReservationSpec{
		Bucket: values.Bucket, Identity: "bbbbbbbb-0000-5000-8000-000000000002", Fleet: v1alpha1.FleetReference{Kind: "PersistentFleet", Namespace: "others", Name: "first"},
	}})
}
