// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// maxLookups bounds the reads by name of one observation from caches: more members than this that are missing at once are a
// start, not objects that lost their label.
const maxLookups = 5

// Object is any Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// ErrNotServed is returned by Objects for a kind that the cluster does not know.
var ErrNotServed = errors.New("the cluster does not serve this kind")

// Objects reads a cluster: caches of it, the API server, a dump or a model. What it returns is not changed.
//
// Of a Pod, claim, StatefulSet, Deployment, HTTPRoute, Ingress, fleet or reservation it returns the Go type of its API; of
// any other kind the metadata is enough.
type Objects interface {
	// Get returns false for an object that is not there. An error says that it is not known.
	Get(ctx context.Context, kind, namespace, name string) (Object, bool, error)
	// List returns the objects of a kind with an identity, in any order.
	List(ctx context.Context, kind, namespace, identity string) ([]Object, error)
}

// Memory is what a process has seen so far. Waits that end a disk never trust a node's clock, or what a kubelet remembers, alone.
type Memory interface {
	// Seen returns since when a Pod has been seen Ready, or not Ready, as it is now.
	Seen(pod *corev1.Pod) time.Time
	// Proven reports whether a Pod of a revision has been seen Ready.
	Proven(namespace, identity, revision string) bool
	// Ended returns when the last Pod of an ordinal from a count on was seen to be gone, or, if none was seen, when the process began.
	Ended(namespace, identity string, from int) (at time.Time, seen bool)
	// Begun returns what is known of a hand-over whose Pod this process deleted.
	Begun(podUID string) *Begun
	// Brake returns the brake on replacements as a fleet sees it.
	Brake(fleet Ref, identity string, now time.Time) *Brake
}

// An Observer makes snapshots. Its caches hold only objects with the label fleet-uid, so what a cache does not have is read
// by name before it counts as missing: an object that lost its label must not become invisible.
type Observer struct {
	// Objects lists and gets: the caches, or the API server itself.
	Objects Objects
	// ByName is the API server.
	ByName Objects
	// Live says that Objects is the API server too, and that an action depends on the snapshot: every name is looked up.
	Live bool
	// Zone of a node, "" when it is not known.
	Zone func(node string) string
	// Nodes returns the names of the nodes in a zone. Nil means that nobody knows.
	Nodes func(ctx context.Context, zone string) ([]string, error)
	// Memory of this process, nil where nobody looked before.
	Memory Memory
	// Refused returns why a workload's controller could not make a Pod, by its own event. Nil means that nobody knows.
	Refused func(ctx context.Context, workload Ref) (string, error)
}

// Observe returns what the cluster shows of a fleet.
func (o *Observer) Observe(ctx context.Context, f v1alpha1.Fleet, now time.Time) (*Snapshot, error) {
	s := &Snapshot{Fleet: FleetValues(f)}
	if replicas := f.Shared().Replicas; replicas != nil {
		s.Target = int(*replicas)
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, v1alpha1.Fleet, *Snapshot, time.Time) error
	}{
		{"the namespace", o.namespace},
		{"the reservation", o.reservation},
		{"the fleet of the other kind", o.sibling},
		{"the workload", o.workload},
		{"members", o.members},
		{"where disks can be used", o.volumes},
		{"what was seen before", o.remember},
		{"why a Pod is missing", o.refused},
		{"how templates differ", o.change},
		{"what protects members", o.prerequisites},
		{"the route", o.route},
	} {
		if err := step.do(ctx, f, s, now); err != nil {
			return nil, fmt.Errorf("observing %s: %w", step.what, err)
		}
	}
	return s, nil
}

// read returns an object as its Go type.
func read[T Object](ctx context.Context, from Objects, kind, namespace, name string) (object T, found bool, err error) {
	got, found, err := from.Get(ctx, kind, namespace, name)
	if !found || err != nil {
		return object, false, err
	}
	object, ok := got.(T)
	if !ok {
		return object, false, fmt.Errorf("%s %s was read as %T", kind, name, got)
	}
	return object, true, nil
}

// namespace ends the protection of a fleet whose namespace is being deleted: its claims go anyway.
func (o *Observer) namespace(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if !s.Fleet.Protected {
		return nil
	}
	namespace, found, err := o.ByName.Get(ctx, KindNamespace, "", f.GetNamespace())
	if found && !namespace.GetDeletionTimestamp().IsZero() {
		s.Fleet.Protected, s.Fleet.Deleting = false, true
	}
	return err
}

func (o *Observer) reservation(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	r, found, err := read[*v1alpha1.StorageReservation](ctx, o.Objects, v1alpha1.KindStorageReservation, "", s.Fleet.ReservationName)
	if err == nil && !found && !o.Live { // before one is made, or missed
		r, found, err = read[*v1alpha1.StorageReservation](ctx, o.ByName, v1alpha1.KindStorageReservation, "", s.Fleet.ReservationName)
	}
	if errors.Is(err, ErrNotServed) {
		s.NoReservations = true
		return nil
	}
	if !found {
		return err
	}
	s.Reservation = reservationValues(r)
	// A fleet that was renamed or moved has the identity of one that is gone. Two that exist would share bucket and disks.
	owner := r.Spec.Fleet
	if r.Spec.Identity != s.Fleet.Identity || owner.Kind == f.Kind() && owner.Namespace == f.GetNamespace() && owner.Name == f.GetName() {
		return nil
	}
	rival, err := o.fleet(ctx, owner.Kind, owner.Namespace, owner.Name)
	if err == nil && rival != nil && render.Identity(rival) == s.Fleet.Identity {
		s.Reservation.Rival = s.Reservation.Owner
	}
	return err
}

// fleet returns nil for a fleet that is not there.
func (o *Observer) fleet(ctx context.Context, kind, namespace, name string) (v1alpha1.Fleet, error) {
	if v1alpha1.NewFleet(kind) == nil {
		return nil, fmt.Errorf("no fleet is a %q", kind)
	}
	f, found, err := read[v1alpha1.Fleet](ctx, o.ByName, kind, namespace, name)
	if !found {
		return nil, err
	}
	return f, nil
}

// sibling looks for a fleet of the other kind before anything of a fleet is taken apart, or a claim to that is laid.
func (o *Observer) sibling(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if s.Fleet.Finalizer && !s.Fleet.Deleting {
		return nil
	}
	other := v1alpha1.KindBucketFleet
	if s.Fleet.Kind == other {
		other = v1alpha1.KindPersistentFleet
	}
	sibling, err := o.fleet(ctx, other, f.GetNamespace(), f.GetName())
	if err != nil || sibling == nil || render.Identity(sibling) != s.Fleet.Identity {
		return err
	}
	// One that goes as well does not keep what it shares: of two, the PersistentFleet takes it along.
	if values := FleetValues(sibling); !values.Deleting || values.Finalizer && !s.Fleet.Persistent {
		s.Sibling = fmt.Sprintf("%s %s/%s", other, f.GetNamespace(), f.GetName())
	}
	return nil
}

func (o *Observer) workload(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	object, found, err := o.get(ctx, s.Fleet.WorkloadKind, f.GetNamespace(), f.GetName())
	if !found {
		return err
	}
	switch w := object.(type) {
	case *appsv1.StatefulSet:
		s.Workload = statefulSetValues(w)
	case *appsv1.Deployment:
		s.Workload = deploymentValues(w)
	default:
		return fmt.Errorf("%s %s was read as %T", s.Fleet.WorkloadKind, f.GetName(), object)
	}
	same, form := render.DigestMatches(f, s.Workload.SpecDigest)
	if same {
		s.Workload.SpecDigest = s.Fleet.SpecDigest // in whatever form it was written
	}
	s.Workload.NewerDigest = form == render.DigestNewer
	if s.Fleet.Invalid == "" && s.Workload.Identity == s.Fleet.Identity {
		s.Fleet.Invalid = changedForGood(f, s.Workload)
	}
	return nil
}

// members lists Pods and claims of the fleet's identity, then looks for those that should be there by name.
func (o *Observer) members(ctx context.Context, _ v1alpha1.Fleet, s *Snapshot, now time.Time) error {
	workloadUID := ""
	if s.Workload != nil {
		workloadUID = s.Workload.UID
	}
	pods, err := o.Objects.List(ctx, KindPod, s.Fleet.Namespace, s.Fleet.Identity)
	if err != nil {
		return err
	}
	if !s.Fleet.Ordered() {
		o.unordered(s, pods, now)
		return nil
	}
	members := newMembers(s)
	for _, object := range pods {
		m := members.at(render.ParsePodName(object.GetName()))
		if pod, ok := object.(*corev1.Pod); ok && m != nil {
			m.Pod = o.pod(pod, s, workloadUID, now)
		}
	}
	if s.Fleet.Persistent {
		claims, err := o.Objects.List(ctx, KindClaim, s.Fleet.Namespace, s.Fleet.Identity)
		if err != nil {
			return err
		}
		for _, object := range claims {
			m := members.at(render.ParseClaimName(object.GetName()))
			if claim, ok := object.(*corev1.PersistentVolumeClaim); ok && m != nil {
				m.Claim = claimValues(claim, o.Zone, now)
			}
		}
	}
	members.into(s)
	if err := o.lookUp(ctx, s, workloadUID, now); err != nil {
		return err
	}
	s.eachPod(func(pod *Pod) { pod.Waited = s.Fleet.Paused && !s.Fleet.Deleting })
	return nil
}

// lookUp reads by name what no list showed: Pods and claims of current members, and, before members are added, claims at the
// names of those to come.
func (o *Observer) lookUp(ctx context.Context, s *Snapshot, workloadUID string, now time.Time) error {
	if s.Fleet.Deleting {
		return nil // only what carries the identity is deleted
	}
	lookups := 0
	current := len(s.Current())
	for i := range s.Members {
		m := &s.Members[i]
		if !o.Live && (i >= current || lookups >= maxLookups) {
			break
		}
		if m.Pod == nil && i < current {
			lookups++
			pod, found, err := read[*corev1.Pod](ctx, o.ByName, KindPod, s.Fleet.Namespace, m.Name)
			if err != nil {
				return err
			}
			if found {
				m.Pod = o.pod(pod, s, workloadUID, now)
			}
		}
		if s.Fleet.Persistent && m.Claim == nil && (o.Live || m.Pod != nil) {
			lookups++
			name := render.ClaimName(s.Fleet.Name, m.Ordinal)
			claim, found, err := read[*corev1.PersistentVolumeClaim](ctx, o.ByName, KindClaim, s.Fleet.Namespace, name)
			if err != nil {
				return err
			}
			if found {
				m.Claim = claimValues(claim, o.Zone, now)
			}
		}
	}
	return nil
}

// pod takes the values of a Pod, and what was seen of it before.
func (o *Observer) pod(pod *corev1.Pod, s *Snapshot, workloadUID string, now time.Time) *Pod {
	p := podValues(pod, s.Fleet.Identity, workloadUID, o.Zone, now)
	if o.Memory != nil {
		p.Seen = past(o.Memory.Seen(pod), now)
		p.Proven = o.Memory.Proven(pod.Namespace, s.Fleet.Identity, p.Revision)
		if p.Handover != nil {
			p.Handover.Begun = o.Memory.Begun(p.UID)
		}
	}
	return p
}

// unordered keeps the Pods of a Deployment, those of its current ReplicaSets and what they left.
func (o *Observer) unordered(s *Snapshot, pods []Object, now time.Time) {
	for _, object := range pods {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			continue // its ReplicaSet has made another
		}
		p := o.pod(pod, s, "", now)
		p.Waited = !s.Fleet.Deleting
		p.Controlled = s.Workload != nil // through a ReplicaSet; the selector is the identity alone
		s.Pods = append(s.Pods, p)
	}
	slices.SortFunc(s.Pods, func(a, b *Pod) int { return strings.Compare(a.Name, b.Name) })
}

// prerequisites are looked at as long as the fleet runs: the policy is all that protects the peer port.
func (o *Observer) prerequisites(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if s.Workload == nil || s.Fleet.Deleting || s.Fleet.Paused {
		return nil
	}
	for _, p := range []Prerequisite{
		{Kind: KindBudget, Name: f.GetName()},
		{Kind: KindNetworkPolicy, Name: f.GetName()},
		{Kind: KindService, Name: f.GetName()},
		{Kind: KindService, Name: render.PeerServiceName(f.GetName())},
	} {
		object, found, err := o.get(ctx, p.Kind, f.GetNamespace(), p.Name)
		if err != nil {
			return err
		}
		if p.Found = found; found {
			p.Foreign = foreign(object, s.Fleet.Identity)
		}
		s.Prerequisites = append(s.Prerequisites, p)
	}
	return nil
}

// foreign says why an object is not the fleet's.
func foreign(o metav1.Object, identity string) string {
	switch got := o.GetLabels()[v1alpha1.LabelFleetUID]; {
	case got != identity:
		return fmt.Sprintf("its label %s is %q, not %q", v1alpha1.LabelFleetUID, got, identity)
	case len(o.GetOwnerReferences()) > 0:
		return "it has owner references"
	default:
		return ""
	}
}

// get reads from the caches and, for what they do not have, by name.
func (o *Observer) get(ctx context.Context, kind, namespace, name string) (Object, bool, error) {
	object, found, err := o.Objects.Get(ctx, kind, namespace, name)
	if found || err != nil || o.Live {
		return object, found, err
	}
	return o.ByName.Get(ctx, kind, namespace, name)
}
