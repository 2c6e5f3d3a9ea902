// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A jumpClock runs with the real clock and jumps ahead when a test says so. It
// is the healer's clock, and translates what the API server dates with the real
// one: what happened before a jump is that much longer ago, and what happens
// after it is as recent as it is.
type jumpClock struct {
	*clocktesting.FakeClock

	looks   atomic.Int32 // how often a fleet was read, which is how a look at it begins
	setting sync.Mutex
	mu      sync.Mutex
	jumps   []jump
	noted   map[types.UID]string // the version of each Pod that informers showed last
}

type jump struct {
	at time.Time // real, on a full second: the API server dates to the second
	by time.Duration
}

func newJumpClock(t *testing.T) *jumpClock {
	t.Helper()
	c := &jumpClock{FakeClock: clocktesting.NewFakeClock(time.Now()), noted: map[types.UID]string{}}
	tick := time.NewTicker(20 * time.Millisecond)
	done := make(chan struct{})
	t.Cleanup(func() { tick.Stop(); close(done) })
	go func() {
		for {
			select {
			case <-tick.C:
				c.run()
			case <-done:
				return
			}
		}
	}()
	return c
}

// jump moves the clock ahead at the next full second. Whatever the healer
// wanted to look at until then, it looks at now.
func (c *jumpClock) jump(by time.Duration) {
	at := time.Now().Truncate(time.Second).Add(time.Second)
	c.mu.Lock()
	c.jumps = append(c.jumps, jump{at: at, by: by}) // before it is time: a date is always translated alike
	c.mu.Unlock()
	time.Sleep(time.Until(at))
	c.run()
}

// run sets the clock to what it is by now. It never goes back.
func (c *jumpClock) run() {
	c.setting.Lock()
	defer c.setting.Unlock()
	c.SetTime(c.translate(time.Now()))
}

// translate makes the healer's time of a real one.
func (c *jumpClock) translate(real time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := time.Duration(0)
	for _, jump := range c.jumps {
		if !real.Before(jump.at) {
			ahead += jump.by
		}
	}
	return real.Add(ahead)
}

func (c *jumpClock) stamp(at *metav1.Time) {
	if at != nil && !at.IsZero() {
		at.Time = c.translate(at.Time)
	}
}

// object translates the times of an object that the healer reads.
func (c *jumpClock) object(object any) {
	switch o := object.(type) {
	case v1alpha1.Fleet:
		c.looks.Add(1)
	case *corev1.Pod:
		c.pod(o)
	case *corev1.PersistentVolumeClaim:
		c.stamp(&o.CreationTimestamp)
	case *corev1.PodList:
		for i := range o.Items {
			c.pod(&o.Items[i])
		}
	case *corev1.PersistentVolumeClaimList:
		for i := range o.Items {
			c.stamp(&o.Items[i].CreationTimestamp)
		}
	case *corev1.EventList:
		for i := range o.Items {
			c.stamp(&o.Items[i].LastTimestamp)
		}
	}
}

// shown translates a Pod that an informer shows.
func (c *jumpClock) shown(pod *corev1.Pod) {
	c.mu.Lock()
	c.noted[pod.UID] = pod.ResourceVersion
	c.mu.Unlock()
	c.pod(pod)
}

// hasNoted tells whether the healer's informers have shown a Pod as it is.
func (c *jumpClock) hasNoted(pod *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noted[pod.UID] == pod.ResourceVersion
}

func (c *jumpClock) pod(pod *corev1.Pod) {
	c.stamp(&pod.CreationTimestamp)
	c.stamp(pod.Status.StartTime)
	for i := range pod.Status.Conditions {
		c.stamp(&pod.Status.Conditions[i].LastTransitionTime)
	}
	// The time of a deletion is when it was asked for, and the grace period.
	if at := pod.DeletionTimestamp; at != nil && pod.DeletionGracePeriodSeconds != nil {
		grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		at.Time = c.translate(at.Add(-grace)).Add(grace)
	}
}
