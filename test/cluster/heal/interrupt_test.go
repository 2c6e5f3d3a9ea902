// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

var errDead = errors.New("this healer is dead")

// A fuse ends a healer after some writes of Pods and claims, dry runs among
// them: the last one is carried out, and nothing is asked of the API server any
// more.
type fuse struct {
	left  atomic.Int32
	blown atomic.Bool
}

func (f *fuse) option(o *options) {
	burn := func(object client.Object, write func() error) error {
		if f.blown.Load() {
			return errDead
		}
		switch object.(type) {
		case *corev1.Pod, *corev1.PersistentVolumeClaim:
			if f.left.Add(-1) < 0 {
				f.blown.Store(true)
				return errDead
			}
		}
		return write()
	}
	o.Client = wrap(o.Client, interceptor.Funcs{
		Patch: func(ctx ctx, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return burn(object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx ctx, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return burn(object, func() error { return c.Delete(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx ctx, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if f.blown.Load() {
				return errDead
			}
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
}

// A replacement is four writes, and a question before the second: prepare, ask
// by a dry run whether the claim may go, delete the Pod, delete the claim,
// release. A healer that dies after any of them leaves what the next one ends:
// it did not delete the Pod itself, so it keeps the disk unless the claim is
// going already, whether the others are settled or not.
func TestReplacementInterruptedAfterEveryWrite(t *testing.T) {
	t.Parallel()
	const (
		asked      = 2
		podGone    = 3
		claimGoing = 4
		writes     = 5
	)
	for n := range writes + 1 {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			t.Parallel()
			f := &fuse{}
			f.left.Store(int32(n))
			s := newReadyFleet(t, 3, oldDisks, f.option)
			disks := s.disks(3)
			old := s.pod(1)
			s.w.Behave("my-fleet-1", cluster.Crashing)
			s.passMinutes(11)
			if n < writes {
				cluster.Wait(t, "the healer to die", func(ctx) (bool, string) { return f.blown.Load(), fmt.Sprint(f.left.Load()) })
			} else {
				s.w.WaitReplaced(old)
			}
			s.stop()
			if n > 0 && n < writes {
				held := s.pod(1)
				require.Equal(t, old.UID, held.UID, "its name is taken until the hand-over has ended")
				require.Contains(t, held.Finalizers, v1alpha1.FinalizerReplacingDisk)
				require.Equal(t, n >= podGone, held.DeletionTimestamp != nil)
				require.Equal(t, n >= claimGoing, s.claim(1).DeletionTimestamp != nil)
			}

			clock := s.clock
			s.running = startHealer(t, s.w, func(o *options) {
				o.Clock, o.QueueClock, o.Client = clock, clock, reading(nil, clock.object)
			}, oldDisks)
			s.clock = clock
			if n <= asked {
				// Nothing was deleted: the disk is kept, and the next healer comes to its own decision.
				s.w.WaitPod(old.Name, "to be released", func(pod *corev1.Pod) bool { return len(pod.Finalizers) == 0 })
				s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
				require.Equal(t, old.UID, s.pod(1).UID)
				require.Equal(t, disks, s.disks(3))
				s.requireFenced(1, n > 0)
				return
			}
			s.w.WaitReplaced(old)
			s.waitReady()
			after := s.disks(3)
			require.Equal(t, disks[0], after[0])
			require.Equal(t, disks[2], after[2])
			if n < claimGoing {
				require.Equal(t, disks[1], after[1], "the disk is kept")
				s.waitEvent("ReplacementAborted")
			} else {
				require.NotEqual(t, disks[1], after[1], "the disk is a fresh one")
			}
			s.requireFenced(1, n < claimGoing)
			require.Empty(t, s.pod(1).Finalizers)
		})
	}
}

// requireFenced tells whether a member's claim was changed so that a deletion
// that was sent before is refused.
func (s *subject) requireFenced(ordinal int, want bool) {
	s.t.Helper()
	_, fenced := s.claim(ordinal).Annotations[v1alpha1.AnnotationReplacementAborted]
	require.Equal(s.t, want, fenced, "claim of member %d", ordinal)
}

// The healer that deleted the Pod knows the claim as it was judged: when the
// claim's deletion gets no answer, it goes on.
func TestCommittedReplacementIsFinished(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	s := newReadyFleet(t, 3, oldDisks, func(o *options) {
		o.Client = wrap(o.Client, interceptor.Funcs{
			Delete: func(ctx ctx, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if endsClaim(object, options) && lost.CompareAndSwap(false, true) {
					return errors.New("the connection was lost")
				}
				return c.Delete(ctx, object, options...)
			},
		})
	})
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.passMinutes(11)
	s.requireReplaced(1, disks, pods)
	require.True(t, lost.Load())
	s.waitEvent("ReplacementFinished")
	s.requireFenced(1, false)
}

// A healer that stood still after it had deleted the Pod sends the claim's
// deletion when another has long called the replacement off: it is refused, and
// the successor keeps the disk that it runs on.
func TestLateDeletionOfTheClaimIsRefused(t *testing.T) {
	t.Parallel()
	reached, moves := make(chan struct{}), make(chan struct{})
	reach, move := sync.OnceFunc(func() { close(reached) }), sync.OnceFunc(func() { close(moves) })
	s := newReadyFleet(t, 3, oldDisks, func(o *options) {
		o.Client = wrap(o.Client, interceptor.Funcs{
			Delete: func(ctx ctx, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if endsClaim(object, options) {
					reach()
					<-moves
					ctx = context.WithoutCancel(ctx) // it was on its way
				}
				return c.Delete(ctx, object, options...)
			},
		})
	})
	t.Cleanup(move)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.passMinutes(11)
	<-reached
	require.NotNil(t, s.pod(1).DeletionTimestamp)

	clock := s.clock
	startHealer(t, s.w, func(o *options) {
		o.Clock, o.QueueClock, o.Client = clock, clock, reading(nil, clock.object)
	}, oldDisks)
	s.w.WaitReplaced(pods[1])
	s.waitReady()
	s.waitEvent("ReplacementAborted")
	s.requireFenced(1, true)

	mark := s.w.Mark(t)
	move()
	cluster.Wait(t, "the late deletion to be refused", func(ctx) (bool, string) {
		sent := s.w.Requests(t, mark, func(r cluster.Request) bool {
			return s.byHealer(r) && r.Verb == "delete" && r.Resource == "persistentvolumeclaims"
		})
		return len(sent) == 1 && sent[0].Code == http.StatusConflict, fmt.Sprint(sent)
	})
	s.holds("the disk is kept", 3)
	require.Equal(t, disks, s.disks(3))
}

// endsClaim tells a claim's deletion from a question whether it would be refused.
func endsClaim(object client.Object, options []client.DeleteOption) bool {
	_, ok := object.(*corev1.PersistentVolumeClaim)
	return ok && len((&client.DeleteOptions{}).ApplyOptions(options).DryRun) == 0
}

// The caches show what was, the API server what is: only the latter decides.
func TestStaleCachesReplaceNobody(t *testing.T) {
	t.Parallel()
	var frozen atomic.Bool
	var seen atomic.Pointer[corev1.PodList]
	first := true // the cached client is made first
	s := newReadyFleet(t, 3, oldDisks, func(o *options) {
		inner := o.Client
		o.Client = func(c client.WithWatch) client.WithWatch {
			c = inner(c)
			if !first {
				return c
			}
			first = false
			return reading(nil, func(object any) {
				pods, ok := object.(*corev1.PodList)
				if !ok {
					return
				}
				if frozen.Load() {
					seen.Load().DeepCopyInto(pods)
					return
				}
				seen.Store(pods.DeepCopy())
			})(c)
		}
	})
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
	frozen.Store(true)
	s.w.Behave("my-fleet-1", cluster.Ready)
	mark := s.w.Mark(t)
	s.holdsAfter(11, "the member that came back keeps its disk", 3)
	require.NotEmpty(t, s.w.Requests(t, mark, func(r cluster.Request) bool {
		return s.byHealer(r) && r.Verb == "list" && r.Resource == "pods"
	}), "by the caches a replacement is due, so it asks the API server")
	frozen.Store(false)
	s.sync()
	s.w.Behave("my-fleet-1", cluster.Ready)
}
