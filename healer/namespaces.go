// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// readable leaves out namespaces that the healer has no rights in, such as those that are gone: the caches of all would wait
// for theirs. It is an error if none is left.
func readable(ctx context.Context, reader client.Reader, namespaces []string) (may, mayNot []string, err error) {
	for _, namespace := range namespaces {
		if noRights(ctx, reader, namespace) {
			mayNot = append(mayNot, namespace)
		} else {
			may = append(may, namespace)
		}
	}
	if len(mayNot) > 0 && len(may) == 0 {
		return nil, nil, fmt.Errorf("no rights in %s: does each of these namespaces exist, with a RoleBinding for the healer?", strings.Join(mayNot, ", "))
	}
	return may, mayNot, nil
}

// noRights reports whether the API server refuses to show what is in a namespace. An API server that does not answer refuses
// nothing.
func noRights(ctx context.Context, reader client.Reader, namespace string) bool {
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	return apierrors.IsForbidden(reader.List(ctx, pods, client.InNamespace(namespace), client.Limit(1)))
}

// An awaiter ends the program when a namespace can be read that was left out: caches are made once.
type awaiter struct {
	reader     client.Reader
	namespaces []string
	every      time.Duration
}

var _ manager.LeaderElectionRunnable = &awaiter{}

// NeedLeaderElection says that a healer that stands by looks, too.
func (*awaiter) NeedLeaderElection() bool { return false }

// Start looks until the context ends.
func (a *awaiter) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(a.every):
		}
		for _, namespace := range a.namespaces {
			if ctx.Err() == nil && !noRights(ctx, a.reader, namespace) {
				return fmt.Errorf("namespace %s can be read by now: starting again, to look after its fleets", namespace)
			}
		}
	}
}

// release ends the deletion of a fleet whose namespace is being deleted and took the healer's rights in it along: Kubernetes
// deletes everything there, and only the fleet waits for the healer. It returns false for any other fleet.
func (h *Healer) release(ctx context.Context, request Request) (bool, error) {
	fleet, err := getFleet(ctx, h.Live, request)
	if err != nil || fleet == nil || fleet.GetDeletionTimestamp() == nil || !fleetValues(fleet).Finalizer {
		return false, err
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := h.Live.Get(ctx, client.ObjectKey{Name: request.Namespace}, namespace); err != nil || namespace.DeletionTimestamp == nil {
		return false, err
	}
	act := &actor{verbs: verbs{h.Client}, fleet: fleet, wrote: func(written) {}}
	if err := act.act(ctx, nil, &Action{Verb: VerbRemoveFinalizer, Targets: []Ref{refOf(fleet.Kind(), fleet)}}); err != nil {
		return false, err
	}
	log.FromContext(ctx).Info("let go: the namespace is being deleted, and the healer has no rights in it any more; Kubernetes deletes the rest")
	h.forget(request)
	return true, nil
}
