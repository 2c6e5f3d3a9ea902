// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// maxLookups bounds the reads by name of one observation from caches: more members than this that are missing at once are a
// start, not objects that lost their label.
const maxLookups = 5

// An observer makes snapshots. Its caches hold only objects with the label fleet-uid, so what a cache does not have is read
// by name before it counts as missing: an object that lost its label must not become invisible.
type observer struct {
	// reader lists and gets: the caches, or the API server itself.
	reader client.Reader
	// byName is the API server.
	byName client.Reader
	// live says that reader is the API server too, and that an action depends on the snapshot: every name is looked up.
	live bool
	// zone of a node, "" when it is not known.
	zone func(node string) string
}

// observe returns what the cluster shows of a fleet.
func (o *observer) observe(ctx context.Context, f v1alpha1.Fleet, now time.Time) (*Snapshot, error) {
	s := &Snapshot{Fleet: fleetValues(f)}
	if replicas := f.Shared().Replicas; replicas != nil {
		s.Target = int(*replicas)
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, v1alpha1.Fleet, *Snapshot, time.Time) error
	}{
		{"the reservation", o.reservation},
		{"the fleet of the other kind", o.sibling},
		{"the workload", o.workload},
		{"members", o.members},
		{"what protects members", o.prerequisites},
		{"the route", o.route},
	} {
		if err := step.do(ctx, f, s, now); err != nil {
			return nil, fmt.Errorf("observing %s: %w", step.what, err)
		}
	}
	return s, nil
}

func (o *observer) reservation(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	r := &v1alpha1.StorageReservation{}
	found, err := exists(o.reader.Get(ctx, client.ObjectKey{Name: s.Fleet.ReservationName}, r))
	if !found {
		return err
	}
	s.Reservation = reservationValues(r)
	// A fleet that was renamed or moved has the identity of one that is gone. Two that exist would share bucket and disks.
	owner := Request{Kind: r.Spec.Fleet.Kind, NamespacedName: client.ObjectKey{Namespace: r.Spec.Fleet.Namespace, Name: r.Spec.Fleet.Name}}
	if r.Spec.Identity != s.Fleet.Identity || owner == (Request{Kind: f.Kind(), NamespacedName: client.ObjectKeyFromObject(f)}) {
		return nil
	}
	rival, err := getFleet(ctx, o.byName, owner)
	if err == nil && rival != nil && render.Identity(rival) == s.Fleet.Identity {
		s.Reservation.Rival = s.Reservation.Owner
	}
	return err
}

// sibling looks for a fleet of the other kind before anything of a fleet is taken apart, or a claim to that is laid.
func (o *observer) sibling(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if s.Fleet.Finalizer && !s.Fleet.Deleting {
		return nil
	}
	other := v1alpha1.KindBucketFleet
	if s.Fleet.Kind == other {
		other = v1alpha1.KindPersistentFleet
	}
	sibling, err := getFleet(ctx, o.byName, Request{Kind: other, NamespacedName: client.ObjectKeyFromObject(f)})
	if err != nil || sibling == nil || render.Identity(sibling) != s.Fleet.Identity {
		return err
	}
	// One that goes as well does not keep what it shares: of two, the PersistentFleet takes it along.
	if values := fleetValues(sibling); !values.Deleting || values.Finalizer && !s.Fleet.Persistent {
		s.Sibling = fmt.Sprintf("%s %s/%s", other, f.GetNamespace(), f.GetName())
	}
	return nil
}

func (o *observer) workload(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if s.Fleet.Ordered() {
		set := &appsv1.StatefulSet{}
		found, err := o.get(ctx, client.ObjectKeyFromObject(f), set)
		if found {
			s.Workload = statefulSetValues(set)
		}
		return err
	}
	deployment := &appsv1.Deployment{}
	found, err := o.get(ctx, client.ObjectKeyFromObject(f), deployment)
	if found {
		s.Workload = deploymentValues(deployment)
	}
	return err
}

// members lists Pods and claims of the fleet's identity, then looks for those that should be there by name.
func (o *observer) members(ctx context.Context, _ v1alpha1.Fleet, s *Snapshot, now time.Time) error {
	ours := []client.ListOption{client.InNamespace(s.Fleet.Namespace), client.MatchingLabels{v1alpha1.LabelFleetUID: s.Fleet.Identity}}
	workloadUID := ""
	if s.Workload != nil {
		workloadUID = s.Workload.UID
	}
	var pods corev1.PodList
	if err := o.reader.List(ctx, &pods, ours...); err != nil {
		return err
	}
	if !s.Fleet.Ordered() {
		o.unordered(s, pods.Items, now)
		return nil
	}
	members := newMembers(s)
	for i := range pods.Items {
		if m := members.at(render.ParsePodName(pods.Items[i].Name)); m != nil {
			m.Pod = podValues(&pods.Items[i], s.Fleet.Identity, workloadUID, o.zone, now)
		}
	}
	if s.Fleet.Persistent {
		var claims corev1.PersistentVolumeClaimList
		if err := o.reader.List(ctx, &claims, ours...); err != nil {
			return err
		}
		for i := range claims.Items {
			if m := members.at(render.ParseClaimName(claims.Items[i].Name)); m != nil {
				m.Claim = claimValues(&claims.Items[i], o.zone, now)
			}
		}
	}
	members.into(s)
	if err := o.lookUp(ctx, s, workloadUID, now); err != nil {
		return err
	}
	for _, pod := range s.memberPods() {
		pod.Waited = s.Fleet.Paused && !s.Fleet.Deleting
	}
	return nil
}

// lookUp reads by name what no list showed: Pods and claims of current members, and, before members are added, claims at the
// names of those to come.
func (o *observer) lookUp(ctx context.Context, s *Snapshot, workloadUID string, now time.Time) error {
	if s.Fleet.Deleting {
		return nil // only what carries the identity is deleted
	}
	lookups := 0
	current := len(s.Current())
	for i := range s.Members {
		m := &s.Members[i]
		if !o.live && (i >= current || lookups >= maxLookups) {
			break
		}
		if m.Pod == nil && i < current {
			lookups++
			pod := &corev1.Pod{}
			found, err := exists(o.byName.Get(ctx, client.ObjectKey{Namespace: s.Fleet.Namespace, Name: m.Name}, pod))
			if err != nil {
				return err
			}
			if found {
				m.Pod = podValues(pod, s.Fleet.Identity, workloadUID, o.zone, now)
			}
		}
		if s.Fleet.Persistent && m.Claim == nil && (o.live || m.Pod != nil) {
			lookups++
			claim := &corev1.PersistentVolumeClaim{}
			key := client.ObjectKey{Namespace: s.Fleet.Namespace, Name: render.ClaimName(s.Fleet.Name, m.Ordinal)}
			found, err := exists(o.byName.Get(ctx, key, claim))
			if err != nil {
				return err
			}
			if found {
				m.Claim = claimValues(claim, o.zone, now)
			}
		}
	}
	return nil
}

// unordered keeps the Pods of a Deployment, those of its current ReplicaSets and what they left.
func (o *observer) unordered(s *Snapshot, pods []corev1.Pod, now time.Time) {
	for i := range pods {
		p := podValues(&pods[i], s.Fleet.Identity, "", o.zone, now)
		p.Waited = !s.Fleet.Deleting
		p.Controlled = s.Workload != nil // through a ReplicaSet; the selector is the identity alone
		s.Pods = append(s.Pods, p)
	}
	slices.SortFunc(s.Pods, func(a, b *Pod) int { return strings.Compare(a.Name, b.Name) })
}

// prerequisites are looked at only when members are to be added.
func (o *observer) prerequisites(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	if s.Workload == nil || s.Target <= s.Workload.Replicas || s.Fleet.Deleting || s.Fleet.Paused {
		return nil
	}
	for _, p := range []struct {
		gvk  schema.GroupVersionKind
		name string
	}{
		{policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), f.GetName()},
		{networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), f.GetName()},
		{corev1.SchemeGroupVersion.WithKind("Service"), f.GetName()},
		{corev1.SchemeGroupVersion.WithKind("Service"), render.PeerServiceName(f.GetName())},
	} {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(p.gvk)
		found, err := o.get(ctx, client.ObjectKey{Namespace: f.GetNamespace(), Name: p.name}, object)
		if err != nil {
			return err
		}
		s.Prerequisites = append(s.Prerequisites, Prerequisite{
			Kind: p.gvk.Kind, Name: p.name, Found: found, Foreign: foreign(object, s.Fleet.Identity),
		})
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
func (o *observer) get(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	found, err := exists(o.reader.Get(ctx, key, object))
	if found || err != nil || o.live {
		return found, err
	}
	return exists(o.byName.Get(ctx, key, object))
}

func exists(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
