// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// readable leaves out namespaces that the healer has no rights in, such as those that are gone: the caches of all would wait
// for theirs.
func readable(ctx context.Context, reader client.Reader, namespaces []string) (may, mayNot []string, err error) {
	for _, namespace := range namespaces {
		switch rights, err := rightsIn(ctx, reader, namespace); {
		case err != nil:
			return nil, nil, fmt.Errorf("asking what is in namespace %s: %w", namespace, err)
		case rights:
			may = append(may, namespace)
		default:
			mayNot = append(mayNot, namespace)
		}
	}
	return may, mayNot, nil
}

// rightsIn reports whether the API server shows what is in a namespace.
func rightsIn(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	err := reader.List(ctx, pods, client.InNamespace(namespace), client.Limit(1))
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return err == nil, err
}

// An awaiter looks after namespaces that the healer has no rights in. It lets fleets go in those that end, and ends the program
// when one can be read: caches are made once.
type awaiter struct {
	releaser
	namespaces []string
	every      time.Duration
}

var _ manager.LeaderElectionRunnable = &awaiter{}

// NeedLeaderElection says that a healer that stands by looks, too.
func (*awaiter) NeedLeaderElection() bool { return false }

// Start looks until the context ends.
func (a *awaiter) Start(ctx context.Context) error {
	for {
		for _, namespace := range a.namespaces {
			if rights, err := rightsIn(ctx, a.reader, namespace); err == nil && rights {
				return fmt.Errorf("namespace %s can be read by now: starting again, to look after its fleets", namespace)
			}
			if err := a.releaseAll(ctx, namespace); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "letting fleets go", "namespace", namespace)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(a.every):
		}
	}
}

// alone does what there is to do without rights in any namespace, and says so.
func (a *awaiter) alone(ctx context.Context) error {
	err := fmt.Errorf("no rights in %s: does each of these namespaces exist, with a RoleBinding for the healer?", strings.Join(a.namespaces, ", "))
	for _, namespace := range a.namespaces {
		err = errors.Join(err, a.releaseAll(ctx, namespace))
	}
	return err
}

// A releaser ends the deletion of fleets whose namespace is being deleted and took the healer's rights in it along: Kubernetes
// deletes everything there, and only the fleet waits for the healer.
type releaser struct {
	reader client.Reader // the API server
	client client.Client
}

// releaseAll lets the fleets of a namespace go that may be.
func (r *releaser) releaseAll(ctx context.Context, namespace string) error {
	for _, kind := range v1alpha1.FleetKinds() {
		fleets := &metav1.PartialObjectMetadataList{}
		fleets.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := r.reader.List(ctx, fleets, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range fleets.Items {
			if _, err := r.release(ctx, Request{Kind: kind, NamespacedName: client.ObjectKeyFromObject(&fleets.Items[i])}); err != nil {
				return err
			}
		}
	}
	return nil
}

// release returns false for a fleet that does not have to be let go.
func (r *releaser) release(ctx context.Context, request Request) (bool, error) {
	fleet, err := getFleet(ctx, r.reader, request)
	if err != nil || fleet == nil || fleet.GetDeletionTimestamp() == nil || !rules.FleetValues(fleet).Finalizer {
		return false, err
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := r.reader.Get(ctx, client.ObjectKey{Name: request.Namespace}, namespace); err != nil || namespace.DeletionTimestamp == nil {
		return false, err
	}
	act := &actor{verbs: verbs{r.client}, fleet: fleet, memory: &memory{}, wrote: func(written) {}}
	finalizer := &rules.Action{Verb: rules.VerbRemoveFinalizer, Targets: []rules.Ref{rules.RefOf(fleet.Kind(), fleet)}}
	if err := act.act(ctx, nil, finalizer); err != nil {
		return false, err
	}
	log.FromContext(ctx).Info("let go: the namespace is being deleted, and the healer has no rights in it any more; Kubernetes deletes the rest",
		"kind", request.Kind, "namespace", request.Namespace, "fleet", request.Name)
	return true, nil
}
