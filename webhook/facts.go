// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// The reads of the webhook. Namespaces, workloads, claims and Pods are read live only: there are many, and a stale count or
// claim would let a disk or all members go. Fleets and reservations are also watched.
//
// +kubebuilder:rbac:groups=celld.eric.dev,resources=persistentfleets;bucketfleets;storagereservations,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets;deployments,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims;pods,verbs=list

// Reader reads facts from the cluster.
type Reader struct {
	// Cached reads fleets and reservations from informers. A stale answer may refuse what a retry admits, or admit a fleet
	// that the healer then blocks.
	Cached client.Reader
	// Live reads from the API server.
	Live    client.Reader
	Metrics *Metrics
}

var _ Gatherer = &Reader{}

// Gather fills in the facts that are needed, all at once.
func (r *Reader) Gather(ctx context.Context, in *Input, needs Needs) {
	from := r.Cached
	if needs.Live {
		from = r.Live
	}
	var reads sync.WaitGroup
	if needs.Fleets {
		reads.Go(func() {
			in.Facts.Fleets = counted(r, "fleets", func() ([]Fleet, error) { return fleets(ctx, from, client.InNamespace(in.Namespace)) })
		})
	}
	if needs.Bucket {
		reads.Go(func() { r.gatherBucket(ctx, in) })
	}
	if needs.Workload {
		reads.Go(func() {
			in.Facts.Workload = counted(r, "workload", func() (Workload, error) { return r.workload(ctx, in) })
		})
	}
	if needs.Claims {
		reads.Go(func() { in.Facts.Claims = counted(r, "claims", func() ([]Claim, error) { return r.claims(ctx, in) }) })
	}
	if needs.Orphans {
		reads.Go(func() {
			in.Facts.Orphans = counted(r, "orphans", func() ([]string, error) { return r.orphans(ctx, in) })
		})
	}
	reads.Wait()
}

// GatherNamespace reads the namespace, live: that it terminates admits everything.
func (r *Reader) GatherNamespace(ctx context.Context, in *Input) {
	in.Facts.Namespace = counted(r, "namespace", func() (Namespace, error) {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := r.Live.Get(ctx, client.ObjectKey{Name: in.Namespace}, namespace)
		return Namespace{Terminating: namespace.DeletionTimestamp != nil}, err
	})
}

// gatherBucket reads who has the bucket of the request's fleet or workload, from the cache: rivals are all over the cluster,
// and one that is not seen yet was created this very moment. Who of two such gets the reservation is the healer's affair.
func (r *Reader) gatherBucket(ctx context.Context, in *Input) {
	name := in.reservationName()
	if name == "" {
		in.Facts.Reservation.State, in.Facts.Rivals.State = Absent, Absent
		return
	}
	in.Facts.Reservation = counted(r, "reservation", func() (Reservation, error) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindStorageReservation))
		err := r.Cached.Get(ctx, client.ObjectKey{Name: name}, u)
		identity := text(u, "spec", "identity")
		owner := text(u, "spec", "fleet", "kind") + " " + text(u, "spec", "fleet", "namespace") + "/" + text(u, "spec", "fleet", "name")
		return Reservation{Name: name, Identity: identity, Fleet: owner}, err
	})
	in.Facts.Rivals = counted(r, "rivals", func() ([]Fleet, error) {
		all, err := fleets(ctx, r.Cached)
		var rivals []Fleet
		for _, f := range all {
			if f.Reservation == name {
				rivals = append(rivals, f)
			}
		}
		return rivals, err
	})
}

// reservationName is that of the bucket of the request's fleet or workload.
func (in *Input) reservationName() string {
	o := in.subject()
	if o.Fleet != nil {
		return render.ReservationName(o.Fleet.Store().BucketURL())
	}
	bucket := o.bucket()
	if bucket == "" {
		return ""
	}
	return render.ReservationName((&v1alpha1.ObjectStore{Bucket: bucket}).BucketURL())
}

// counted makes a fact of a read. What does not exist is absent; that goes for kinds as well, once their definitions are gone.
func counted[T any](r *Reader, name string, read func() (T, error)) Fact[T] {
	f := Fact[T]{State: Present}
	value, err := read()
	switch {
	case err == nil:
		f.Value = value
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		f.State = Absent
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f.State, f.Why = Failed, "the API server did not answer in time"
	default:
		f.State, f.Why = Failed, err.Error()
	}
	r.Metrics.read(name, f.State)
	return f
}

// fleets lists the fleets of both kinds.
func fleets(ctx context.Context, from client.Reader, options ...client.ListOption) ([]Fleet, error) {
	kinds := [2]string{v1alpha1.KindPersistentFleet, v1alpha1.KindBucketFleet}
	var lists [len(kinds)][]Fleet
	var errs [len(kinds)]error
	var reads sync.WaitGroup
	for i, kind := range kinds {
		reads.Go(func() { lists[i], errs[i] = fleetsOf(ctx, from, kind, options...) })
	}
	reads.Wait()
	return append(lists[0], lists[1]...), errors.Join(errs[:]...)
}

// fleetsOf lists the fleets of a kind. They are read without their Go types: a stored quantity may take minutes to parse, and
// none matters here.
func fleetsOf(ctx context.Context, from client.Reader, kind string, options ...client.ListOption) ([]Fleet, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
	err := from.List(ctx, list, append(slices.Clone(options), client.UnsafeDisableDeepCopy)...)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil // the definition is gone, and its fleets with it
	}
	var out []Fleet
	for i := range list.Items {
		out = append(out, fleetFact(kind, &list.Items[i]))
	}
	return out, err
}

func fleetFact(kind string, u *unstructured.Unstructured) Fleet {
	var f v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if kind == v1alpha1.KindBucketFleet {
		f = &v1alpha1.BucketFleet{Spec: v1alpha1.BucketFleetSpec{Workload: v1alpha1.Workload(text(u, "spec", "workload"))}}
	}
	f.SetNamespace(u.GetNamespace())
	f.SetName(u.GetName())
	f.SetAnnotations(u.GetAnnotations())
	f.SetCreationTimestamp(u.GetCreationTimestamp())
	f.SetDeletionTimestamp(u.GetDeletionTimestamp())
	f.Store().Bucket = text(u, "spec", "storage", "bucket")
	f.Shared().Identity = text(u, "spec", "identity")
	if n := number(u, "spec", "replicas"); n > 0 {
		f.Shared().Replicas = &n
	}
	f.Shared().Maintenance.Paused, _, _ = unstructured.NestedBool(u.Object, "spec", "maintenance", "paused")
	return FleetOf(f)
}

// workload reads the object that runs the fleet that a request is about, a fleet's own or that of a claim's name.
func (r *Reader) workload(ctx context.Context, in *Input) (Workload, error) {
	name, kind := in.subject().Name, "StatefulSet"
	if f := in.subject().Fleet; f == nil {
		name, _, _ = render.ParseClaimName(name)
	} else if FleetOf(f).Workload == Deployments {
		kind = "Deployment"
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("apps/v1")
	u.SetKind(kind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: in.Namespace, Name: name}, u)
	return Workload{Replicas: number(u, "spec", "replicas"), Ready: number(u, "status", "readyReplicas")}, err
}

// claims lists the claims at names that members of the request's workload could have.
func (r *Reader) claims(ctx context.Context, in *Input) ([]Claim, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	if err := r.Live.List(ctx, list, client.InNamespace(in.Namespace)); err != nil {
		return nil, err
	}
	var out []Claim
	for i := range list.Items {
		c := &list.Items[i]
		if fleet, ordinal, ok := render.ParseClaimName(c.Name); ok && fleet == in.subject().Name && ordinal < maxMembers {
			out = append(out, Claim{Name: c.Name, Identity: c.Labels[v1alpha1.LabelFleetUID]})
		}
	}
	return out, nil
}

// orphans lists running Pods with the identity of the request's workload that have no controller.
func (r *Reader) orphans(ctx context.Context, in *Input) ([]string, error) {
	list := &corev1.PodList{}
	err := r.Live.List(ctx, list, client.InNamespace(in.Namespace),
		client.MatchingLabels{v1alpha1.LabelFleetUID: in.subject().Identity})
	var out []string
	for i := range list.Items {
		p := &list.Items[i]
		if metav1.GetControllerOf(p) == nil && p.DeletionTimestamp == nil &&
			p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			out = append(out, p.Name)
		}
	}
	return out, err
}

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

func number(u *unstructured.Unstructured, path ...string) int32 {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	n, ok := value.(int64)
	if !ok || int64(int32(n)) != n { //nolint:gosec // compared right here
		return 0
	}
	return int32(n) //nolint:gosec // compared above
}
