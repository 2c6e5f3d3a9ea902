// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// FleetValues takes a fleet apart, with what render would make of it.
func FleetValues(f v1alpha1.Fleet) Fleet {
	spec := f.Shared()
	_, persistent := f.(*v1alpha1.PersistentFleet)
	values := Fleet{
		Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName(), UID: string(f.GetUID()), Generation: f.GetGeneration(),
		Persistent: persistent, WorkloadKind: KindStatefulSet,
		Identity: render.Identity(f), SpecDigest: render.SpecDigest(f),
		Bucket: f.Store().BucketURL().String(), ReservationName: render.ReservationName(f.Store().BucketURL()),
		Zones: spec.Placement.Zones, Strict: spec.Placement.Mode != v1alpha1.PlacementRelaxed,
		Paused: spec.Maintenance.Paused, Stopped: spec.Maintenance.Stopped,
		Finalizer: slices.Contains(f.GetFinalizers(), v1alpha1.FinalizerFleetCleanup),
	}
	if !f.GetDeletionTimestamp().IsZero() {
		values.Protected = v1alpha1.Protected(f) && values.Finalizer
		values.Deleting = !values.Protected
	}
	if !f.Ordered() {
		values.WorkloadKind = KindDeployment
	}
	if most, capped := v1alpha1.ZoneCap(f); capped && persistent {
		values.ZoneCap = most
	}
	if errs := f.Validate(); len(errs) > 0 {
		values.Invalid = errs.ToAggregate().Error()
	}
	return values
}

// RefOf returns enough of an object to change it.
func RefOf(kind string, o metav1.Object) Ref {
	return Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), ResourceVersion: o.GetResourceVersion()}
}

func reservationValues(r *v1alpha1.StorageReservation) *Reservation {
	owner := r.Spec.Fleet
	return &Reservation{
		Name: r.Name, Identity: r.Spec.Identity, Owner: fmt.Sprintf("%s %s/%s", owner.Kind, owner.Namespace, owner.Name),
		Terminating: !r.DeletionTimestamp.IsZero(),
	}
}

func workloadMeta(kind string, o metav1.Object) Workload {
	return Workload{
		Ref: RefOf(kind, o), Identity: o.GetLabels()[v1alpha1.LabelFleetUID], SpecDigest: o.GetAnnotations()[v1alpha1.AnnotationSpecDigest],
		Owned: len(o.GetOwnerReferences()) > 0, Terminating: !o.GetDeletionTimestamp().IsZero(), Finalizers: o.GetFinalizers(),
	}
}

// replicasOf returns spec.replicas, where the API server reads nothing as one.
func replicasOf(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func statefulSetValues(set *appsv1.StatefulSet) *Workload {
	w := workloadMeta(KindStatefulSet, set)
	w.Observed = set.Status.ObservedGeneration == set.Generation
	w.Replicas = replicasOf(set.Spec.Replicas)
	w.Existing, w.Ready, w.Updated = int(set.Status.Replicas), int(set.Status.ReadyReplicas), int(set.Status.UpdatedReplicas)
	w.CurrentRevision, w.NextRevision = set.Status.CurrentRevision, set.Status.UpdateRevision
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	w.Held = set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType ||
		rolling != nil && rolling.Partition != nil && *rolling.Partition > 0
	for _, entry := range set.ManagedFields {
		if Rolls(entry) {
			w.Rolls = append(w.Rolls, entry.Manager)
		}
	}
	w.Bucket = bucketOf(&set.Spec.Template)
	for i := range set.Spec.VolumeClaimTemplates {
		if c := &set.Spec.VolumeClaimTemplates[i]; c.Name == v1alpha1.DataVolume {
			size := c.Spec.Resources.Requests[corev1.ResourceStorage]
			w.Size, w.Reservation = size.String(), c.Annotations[v1alpha1.AnnotationStorageReservation]
			if class := c.Spec.StorageClassName; class != nil {
				w.StorageClass = *class
			}
		}
	}
	return &w
}

// Rolls reports whether a manager of a StatefulSet owns its spec.updateStrategy.rollingUpdate, and is not the one that applies what
// fleetwright renders.
func Rolls(entry metav1.ManagedFieldsEntry) bool {
	owns := func(field string) bool {
		return entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+field+`"`)
	}
	return owns("rollingUpdate") && !owns(v1alpha1.AnnotationSpecDigest)
}

// bucketOf returns the bucket that a template's members write to, empty when it does not say.
func bucketOf(template *corev1.PodTemplateSpec) string {
	for i := range template.Spec.Containers {
		if c := &template.Spec.Containers[i]; c.Name == v1alpha1.ContainerName {
			for _, e := range c.Env {
				if e.Name == v1alpha1.EnvBucket {
					return e.Value
				}
			}
		}
	}
	return ""
}

// changedForGood says what of a fleet cannot be changed and differs from its workload, empty when nothing does.
func changedForGood(f v1alpha1.Fleet, w *Workload) string {
	f, _ = f.DeepCopyObject().(v1alpha1.Fleet)
	f.Default()
	var class, size string
	if p, ok := f.(*v1alpha1.PersistentFleet); ok {
		class = p.Spec.Storage.StorageClassName
		if q := f.DiskSize(); q != nil {
			size = q.String()
		}
	}
	for _, c := range []struct{ field, is, was string }{
		{"bucket", f.Store().BucketURL().String(), w.Bucket},
		{"storageClassName", class, w.StorageClass},
		{"size", size, w.Size},
		{"bucket: its StorageReservation", render.ReservationName(f.Store().BucketURL()), w.Reservation},
	} {
		if c.is != "" && c.was != "" && c.is != c.was {
			return fmt.Sprintf("spec.storage.%s is %s, but %s %s was made with %s; it cannot be changed: put %s back", c.field, c.is, w.Kind, w.Name, c.was, c.was)
		}
	}
	return ""
}

func deploymentValues(d *appsv1.Deployment) *Workload {
	w := workloadMeta(KindDeployment, d)
	w.Observed = d.Status.ObservedGeneration == d.Generation
	w.Replicas = replicasOf(d.Spec.Replicas)
	w.Existing, w.Ready, w.Updated = int(d.Status.Replicas), int(d.Status.ReadyReplicas), int(d.Status.UpdatedReplicas)
	w.Held = d.Spec.Paused
	w.Bucket = bucketOf(&d.Spec.Template)
	return &w
}

func claimValues(c *corev1.PersistentVolumeClaim, zone func(node string) string, now time.Time) *Claim {
	return &Claim{
		Ref: RefOf(KindClaim, c), Identity: c.Labels[v1alpha1.LabelFleetUID],
		Created: past(c.CreationTimestamp.Time, now), Terminating: !c.DeletionTimestamp.IsZero(), Finalizers: c.Finalizers,
		Bound: c.Status.Phase == corev1.ClaimBound, Lost: c.Status.Phase == corev1.ClaimLost,
		Marked: c.Annotations[v1alpha1.AnnotationKeptByScaleIn] != "",
		Node:   c.Annotations[SelectedNode], Zone: zone(c.Annotations[SelectedNode]), VolumeName: c.Spec.VolumeName,
	}
}

// SelectedNode is where the scheduler writes for which node a claim is to be provisioned.
const SelectedNode = "volume.kubernetes.io/selected-node"

// imageWaits are what a container waits on that no other disk would give it: its image, or its configuration. They are the
// kubelet's reasons.
var imageWaits = []string{
	"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable",
	"SignatureValidationFailed", "CreateContainerConfigError",
}

// startWaits are what every container waits on while its Pod starts.
var startWaits = []string{"ContainerCreating", "PodInitializing"}

func podValues(pod *corev1.Pod, identity, workloadUID string, zone func(node string) string, now time.Time) *Pod {
	controller := metav1.GetControllerOfNoCopy(pod)
	p := &Pod{
		Ref: RefOf(KindPod, pod), Ours: pod.Labels[v1alpha1.LabelFleetUID] == identity,
		Controlled: controller != nil && workloadUID != "" && string(controller.UID) == workloadUID, Ownerless: controller == nil,
		Created: past(pod.CreationTimestamp.Time, now), Finalizers: pod.Finalizers, Node: pod.Spec.NodeName, Zone: zone(pod.Spec.NodeName),
		Revision: pod.Labels[appsv1.StatefulSetRevisionLabel], Handover: handoverOf(pod),
	}
	for _, gate := range pod.Spec.SchedulingGates {
		if gate.Name == v1alpha1.GateBucketZone {
			p.Gated = true
		} else {
			p.ForeignGates = append(p.ForeignGates, gate.Name)
		}
	}
	if at := pod.DeletionTimestamp; at != nil {
		p.Terminating, p.DeletedAt = true, at.Time
		p.Forced = pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
	}
	p.Transition = p.Created
	for _, c := range pod.Status.Conditions {
		at := past(c.LastTransitionTime.Time, now)
		switch {
		case c.Type == corev1.PodReady:
			p.Ready = c.Status == corev1.ConditionTrue
			if p.GatesNotReady = !p.Ready && c.Reason == readinessGatesNotReady; p.GatesNotReady {
				p.Trouble = Cut(c.Message, maxAnswer) // names the gate
			}
			p.Transition = later(p.Transition, at)
			// A kubelet writes the condition when it starts a Pod; a later change means that it was Ready.
			started := pod.Status.StartTime
			p.Failed = !p.Ready && started != nil && at.Sub(started.Time) > 10*time.Second
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && p.Node == "" && c.Reason != corev1.PodReasonSchedulingGated:
			p.unscheduled(&c, at, now)
		}
	}
	p.Unstarted = p.Node != "" && !p.Ready && unstarted(pod)
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		p.container(c)
	}
	return p
}

// unscheduled notes what the scheduler said of a Pod without a node. That it finds none is its answer at once; anything else may
// be over in a moment, and counts once it lasts.
func (p *Pod) unscheduled(c *corev1.PodCondition, at, now time.Time) {
	text := orElse(Cut(c.Message, maxAnswer), "no reason given")
	p.UnscheduledSince = at
	if c.Reason == corev1.PodReasonUnschedulable {
		p.Unschedulable = text
		return
	}
	text = c.Reason + ": " + text
	if decided := at.Add(undecidedFor); now.Before(decided) {
		p.Answer, p.DecidedAt = text, decided
		return
	}
	p.Unschedulable = text
}

// unstarted reports whether no container of a Pod was ever made: the kubelet tells of each that it waits to be created.
func unstarted(pod *corev1.Pod) bool {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Waiting == nil || !slices.Contains(startWaits, c.State.Waiting.Reason) || c.RestartCount > 0 {
			return false
		}
	}
	return len(pod.Status.ContainerStatuses) > 0
}

// container notes what is wrong with a container.
func (p *Pod) container(c corev1.ContainerStatus) {
	p.Failed = p.Failed || c.RestartCount > 0
	switch waiting, ended := c.State.Waiting, c.State.Terminated; {
	case waiting != nil && slices.Contains(imageWaits, waiting.Reason):
		p.ImageWait = orElse(p.ImageWait, Sentence("container "+c.Name, waiting.Reason, waiting.Message))
	case waiting != nil && waiting.Reason != "" && !slices.Contains(startWaits, waiting.Reason):
		p.Failed = true
		p.Trouble = orElse(p.Trouble, Sentence("container "+c.Name, waiting.Reason, waiting.Message))
	case ended != nil && ended.ExitCode != 0:
		p.Failed = true
		p.Trouble = orElse(p.Trouble, Sentence("container "+c.Name, orElse(ended.Reason, "Error"), fmt.Sprintf("exit code %d", ended.ExitCode)))
	}
}

const (
	// undecidedFor is how long another answer of the scheduler than that it finds no node has to last.
	undecidedFor = 2 * time.Minute
	// maxAnswer is what is told of the scheduler's text, which names what is wrong with groups of nodes.
	maxAnswer = 700
	// readinessGatesNotReady is the kubelet's reason for a Pod whose containers are ready, and one of its readiness gates is not.
	readinessGatesNotReady = "ReadinessGatesNotReady"
)

// handoverRecord is the value of AnnotationReplacement.
type handoverRecord struct {
	ClaimUID string `json:"claimUID"`
}

// HandoverRecord is what a Pod is annotated with while it hands its name over.
func HandoverRecord(claim Ref) string {
	raw, _ := json.Marshal(handoverRecord{ClaimUID: claim.UID})
	return string(raw)
}

// handoverOf reads a hand-over; of a record that cannot be read, no claim is known.
func handoverOf(pod *corev1.Pod) *Handover {
	if !slices.Contains(pod.Finalizers, v1alpha1.FinalizerReplacingDisk) {
		return nil
	}
	var record handoverRecord
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.AnnotationReplacement]), &record)
	return &Handover{ClaimUID: record.ClaimUID}
}

// past returns t, or now if t has not come yet.
func past(t, now time.Time) time.Time {
	if t.After(now) {
		return now
	}
	return t
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// Sentence joins what is not empty, and cuts what is long: a message goes into conditions and events.
func Sentence(parts ...string) string {
	const limit = 1000
	return Cut(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": "), limit)
}

// Cut shortens text to a limit of bytes.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}
