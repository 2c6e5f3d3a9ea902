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
	"github.com/fleetwright/fleetwright/webhook/rules"
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
func (r *Reader) Gather(ctx context.Context, in *rules.Input, needs rules.Needs) {
	from := r.Cached
	if needs.Live {
		from = r.Live
	}
	var reads sync.WaitGroup
	if needs.Fleets {
		reads.Go(func() {
			in.Facts.Fleets = counted(r, "fleets", func() ([]rules.Fleet, error) { return fleets(ctx, from, client.InNamespace(in.Namespace)) })
		})
	}
	if needs.Bucket {
		reads.Go(func() { r.gatherBucket(ctx, in) })
	}
	if needs.Workload {
		reads.Go(func() {
			in.Facts.Workload = counted(r, "workload", func() (rules.Workload, error) { return r.workload(ctx, in) })
		})
	}
	if needs.Claims {
		reads.Go(func() {
			in.Facts.Claims = counted(r, "claims", func() ([]rules.Claim, error) { return r.claims(ctx, in) })
		})
	}
	if needs.Orphans {
		reads.Go(func() {
			in.Facts.Orphans = counted(r, "orphans", func() ([]string, error) { return r.orphans(ctx, in) })
		})
	}
	if needs.Instances {
		reads.Go(func() {
			in.Facts.Instances = counted(r, "instances", func() (bool, error) { return r.instances(ctx, in) })
		})
	}
	reads.Wait()
}

// GatherNamespace reads the namespace, live: that it terminates admits everything.
func (r *Reader) GatherNamespace(ctx context.Context, in *rules.Input) {
	in.Facts.Namespace = counted(r, "namespace", func() (rules.Namespace, error) {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := r.Live.Get(ctx, client.ObjectKey{Name: in.Namespace}, namespace)
		return rules.Namespace{Terminating: namespace.DeletionTimestamp != nil}, err
	})
}

// gatherBucket reads who has the bucket of the request's fleet or workload, from the cache: rivals are all over the cluster,
// and one that is not seen yet was created this very moment. Who of two such gets the reservation is the healer's affair.
func (r *Reader) gatherBucket(ctx context.Context, in *rules.Input) {
	bucket := in.BucketName()
	if bucket == (v1alpha1.BucketURL{}) {
		in.Facts.Reservations.State, in.Facts.Rivals.State = rules.Absent, rules.Absent
		return
	}
	in.Facts.Reservations = counted(r, "reservations", func() ([]rules.Reservation, error) { return r.reservations(ctx, bucket) })
	in.Facts.Rivals = counted(r, "rivals", func() ([]rules.Fleet, error) {
		all, err := fleets(ctx, r.Cached)
		return slices.DeleteFunc(all, func(f rules.Fleet) bool { return rules.WholeBucket(f.Bucket) != bucket }), err
	})
}

// reservations lists those of a bucket name, whatever the prefix and the store.
func (r *Reader) reservations(ctx context.Context, bucket v1alpha1.BucketURL) ([]rules.Reservation, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindStorageReservation + "List"))
	if err := r.Cached.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	var out []rules.Reservation
	for i := range list.Items {
		u := &list.Items[i]
		url := text(u, "spec", "bucket")
		if rules.WholeBucket((&v1alpha1.ObjectStore{Bucket: url}).BucketURL()) != bucket {
			continue
		}
		owner := text(u, "spec", "fleet", "kind") + " " + text(u, "spec", "fleet", "namespace") + "/" + text(u, "spec", "fleet", "name")
		out = append(out, rules.Reservation{Name: u.GetName(), Bucket: url, Identity: text(u, "spec", "identity"), Fleet: owner})
	}
	return out, nil
}

// instances says whether there are objects of the definition that a request is about, terminating ones included.
func (r *Reader) instances(ctx context.Context, in *rules.Input) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(in.DefinedKind() + "List"))
	err := r.Live.List(ctx, list, client.Limit(1))
	return len(list.Items) > 0, err
}

// counted makes a fact of a read. What does not exist is absent; that goes for kinds as well, once their definitions are gone.
func counted[T any](r *Reader, name string, read func() (T, error)) rules.Fact[T] {
	f := rules.Fact[T]{State: rules.Present}
	value, err := read()
	switch {
	case err == nil:
		f.Value = value
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		f.State = rules.Absent
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f.State, f.Why = rules.Failed, "the API server did not answer in time"
	default:
		f.State, f.Why = rules.Failed, err.Error()
	}
	r.Metrics.read(name, f.State)
	return f
}

// fleets lists the fleets of both kinds.
func fleets(ctx context.Context, from client.Reader, options ...client.ListOption) ([]rules.Fleet, error) {
	kinds := v1alpha1.FleetKinds()
	lists, errs := make([][]rules.Fleet, len(kinds)), make([]error, len(kinds))
	var reads sync.WaitGroup
	for i, kind := range kinds {
		reads.Go(func() { lists[i], errs[i] = fleetsOf(ctx, from, kind, options...) })
	}
	reads.Wait()
	return slices.Concat(lists...), errors.Join(errs...)
}

// fleetsOf lists the fleets of a kind. They are read without their Go types: a stored quantity may take minutes to parse, and
// none matters here.
func fleetsOf(ctx context.Context, from client.Reader, kind string, options ...client.ListOption) ([]rules.Fleet, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
	err := from.List(ctx, list, append(slices.Clone(options), client.UnsafeDisableDeepCopy)...)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil // the definition is gone, and its fleets with it
	}
	var out []rules.Fleet
	for i := range list.Items {
		out = append(out, fleetFact(kind, &list.Items[i]))
	}
	return out, err
}

func fleetFact(kind string, u *unstructured.Unstructured) rules.Fleet {
	f := v1alpha1.NewFleet(kind)
	if b, ok := f.(*v1alpha1.BucketFleet); ok {
		b.Spec.Workload = v1alpha1.Workload(text(u, "spec", "workload"))
	}
	f.SetNamespace(u.GetNamespace())
	f.SetName(u.GetName())
	f.SetAnnotations(u.GetAnnotations())
	f.SetCreationTimestamp(u.GetCreationTimestamp())
	f.SetDeletionTimestamp(u.GetDeletionTimestamp())
	*f.Store() = v1alpha1.ObjectStore{
		Bucket: text(u, "spec", "storage", "bucket"), Region: text(u, "spec", "storage", "region"),
		AzureAccount: text(u, "spec", "storage", "azureAccount"), Store: text(u, "spec", "storage", "store"),
	}
	f.Shared().Identity = text(u, "spec", "identity")
	placement := &f.Shared().Placement
	placement.Zones, _, _ = unstructured.NestedStringSlice(u.Object, "spec", "placement", "zones")
	placement.Mode = v1alpha1.PlacementMode(text(u, "spec", "placement", "mode"))
	if n := number(u, "spec", "placement", "maxPerZone"); n > 0 {
		placement.MaxPerZone = &n
	}
	if n := number(u, "spec", "replicas"); n > 0 {
		f.Shared().Replicas = &n
	}
	f.Shared().Maintenance.Paused, _, _ = unstructured.NestedBool(u.Object, "spec", "maintenance", "paused")
	f.Shared().Maintenance.Stopped, _, _ = unstructured.NestedBool(u.Object, "spec", "maintenance", "stopped")
	return rules.FleetOf(f)
}

// workload reads the object that runs the fleet which a request is about.
func (r *Reader) workload(ctx context.Context, in *rules.Input) (rules.Workload, error) {
	resource, name := in.WorkloadName()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("apps/v1")
	u.SetKind("StatefulSet")
	if resource == rules.Deployments {
		u.SetKind("Deployment")
	}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: in.Namespace, Name: name}, u)
	return rules.Workload{Replicas: number(u, "spec", "replicas"), Ready: number(u, "status", "readyReplicas")}, err
}

// claims lists the claims at names that members of the request's workload could have.
func (r *Reader) claims(ctx context.Context, in *rules.Input) ([]rules.Claim, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	if err := r.Live.List(ctx, list, client.InNamespace(in.Namespace)); err != nil {
		return nil, err
	}
	var out []rules.Claim
	for i := range list.Items {
		if c := &list.Items[i]; in.OfMember(c.Name) {
			out = append(out, rules.Claim{Name: c.Name, Identity: c.Labels[v1alpha1.LabelFleetUID]})
		}
	}
	return out, nil
}

// orphans lists running Pods with the identity of the request's workload that have no controller.
func (r *Reader) orphans(ctx context.Context, in *rules.Input) ([]string, error) {
	list := &corev1.PodList{}
	err := r.Live.List(ctx, list, client.InNamespace(in.Namespace),
		client.MatchingLabels{v1alpha1.LabelFleetUID: in.Subject().Identity})
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
