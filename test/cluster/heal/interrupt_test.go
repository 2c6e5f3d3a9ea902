// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"errors"
	"fmt"
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

// A fuse ends a healer after some writes of Pods and claims: the last one is
// carried out, its answer is lost, and nothing is asked of the API server any
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

// A replacement is five writes: prepare, delete the Pod, commit, delete the
// claim, release. A healer that dies after any of them leaves what the next one
// ends, and the deletion of the Pod, on record, is what decides how.
func TestReplacementInterruptedAfterEveryWrite(t *testing.T) {
	t.Parallel()
	const writes = 5
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
				require.Equal(t, n >= 2, held.DeletionTimestamp != nil)
			}

			s.running = startHealer(t, s.w, oldDisks)
			if n <= 1 {
				// Nothing was deleted: the disk is kept, and the next healer comes to its own decision.
				s.w.WaitPod(old.Name, "to be released", func(pod *corev1.Pod) bool { return len(pod.Finalizers) == 0 })
				s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
				require.Equal(t, old.UID, s.pod(1).UID)
				require.Equal(t, disks, s.disks(3))
				return
			}
			s.w.WaitReplaced(old)
			s.waitReady()
			after := s.disks(3)
			require.Equal(t, disks[0], after[0])
			require.Equal(t, disks[2], after[2])
			// The decision is on record after the third write: before it the disk is kept. The next healer's clock
			// did not jump, so the others are not settled for it, unless the claim is going already.
			if n <= 3 {
				require.Equal(t, disks[1], after[1], "the disk is kept")
			} else {
				require.NotEqual(t, disks[1], after[1], "the disk is a fresh one")
			}
			require.Empty(t, s.pod(1).Finalizers)
		})
	}
}

// As above, with others that are settled: what was committed is finished.
func TestCommittedReplacementIsFinished(t *testing.T) {
	t.Parallel()
	f := &fuse{}
	f.left.Store(3)
	s := newReadyFleet(t, 3, oldDisks, f.option)
	disks, old := s.disks(3), s.pod(1)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.passMinutes(11)
	cluster.Wait(t, "the healer to die", func(ctx) (bool, string) { return f.blown.Load(), fmt.Sprint(f.left.Load()) })
	s.stop()

	clock := s.clock
	s.running = startHealer(t, s.w, func(o *options) {
		o.Clock, o.QueueClock, o.Client = clock, clock, reading(nil, clock.object)
	}, oldDisks)
	s.w.WaitReplaced(old)
	s.waitReady()
	require.NotEqual(t, disks[1], s.disks(3)[1])
	s.waitEvent("ReplacementFinished")
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
