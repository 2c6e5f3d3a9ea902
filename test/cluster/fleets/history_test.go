// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// history is what happened to the Pods of a fleet since it began.
type history struct {
	mu     sync.Mutex
	pods   map[string]*corev1.Pod // as of the last event
	left   []string               // members in the order in which their Pods were told to go
	known  map[types.UID]bool     // Pods that are in left
	worst  int                    // the most members that were down at a time
	broken string
}

// record begins a history. All members have to be there.
func (f *live) record() *history {
	f.t.Helper()
	pods := f.w.Kubernetes.CoreV1().Pods(f.Namespace)
	list, err := pods.List(f.t.Context(), metav1.ListOptions{})
	require.NoError(f.t, err)
	h := &history{pods: map[string]*corev1.Pod{}, known: map[types.UID]bool{}}
	for i := range list.Items {
		h.pods[list.Items[i].Name] = &list.Items[i]
	}
	watched, err := pods.Watch(f.t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(f.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watched.ResultChan() {
			h.add(event)
		}
	}()
	f.t.Cleanup(func() { watched.Stop(); <-done })
	return h
}

func (h *history) add(event watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		h.broken = fmt.Sprintf("the watch broke: %v", event.Object)
		return
	}
	if (event.Type == watch.Deleted || pod.DeletionTimestamp != nil) && !h.known[pod.UID] {
		h.known[pod.UID] = true
		h.left = append(h.left, pod.Name)
	}
	h.pods[pod.Name] = pod
	if event.Type == watch.Deleted {
		h.pods[pod.Name] = &corev1.Pod{} // a member without a Pod is down
	}
	down := 0
	for _, pod := range h.pods {
		if !isReady(pod) {
			down++
		}
	}
	h.worst = max(h.worst, down)
}

// waitAll waits until the history has come to where every member is as wanted.
func (h *history) waitAll(f *live, awaited string, want func(*corev1.Pod) bool) {
	f.t.Helper()
	cluster.Wait(f.t, "all members "+awaited, func(ctx) (bool, string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		var seen []string
		done := h.broken == ""
		for _, pod := range h.pods {
			done = done && want(pod)
			seen = append(seen, cluster.DescribePod(pod)+", revision "+revision(pod))
		}
		slices.Sort(seen)
		return done, h.broken + strings.Join(seen, "; ")
	})
}

// restarts returns the members whose Pods were told to go, in that order.
func (h *history) restarts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.left)
}

// mostDown returns how many members were down at a time, at worst.
func (h *history) mostDown() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.worst
}
