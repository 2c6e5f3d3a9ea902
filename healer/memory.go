// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/render"
)

// memory notes what informers show, whether this process leads or stands by, so that no wait that ends a disk trusts a node's clock
// or what a kubelet remembers. It is lost with the process: what happened before counts as if it had happened when it began.
type memory struct {
	clock clock.PassiveClock
	// delay is how long a replacement counts for the brake, and limit how many may be; 0 for the default.
	delay time.Duration
	limit int

	mu    sync.Mutex
	began time.Time
	pods  map[types.UID]sighting
	// ended is when the Pod of each ordinal was last seen to be gone.
	ended map[fleetKey]map[int]time.Time
	// proven are revisions of which a Pod has been seen Ready.
	proven       map[fleetKey]map[string]bool
	begun        map[string]rules.Begun // by the UID of the Pod
	replacements []replaced
	waiting      map[Request]rules.Waiting
	// fleets are those that were looked at, and under which identity.
	fleets map[Request]fleetKey
}

type fleetKey struct{ namespace, identity string }

// A sighting is a Pod as it was noted.
type sighting struct {
	ready            bool
	changed, started time.Time // by its kubelet
	since            time.Time // by this process
}

// replaced is a hand-over that was seen.
type replaced struct {
	pod   types.UID
	fleet fleetKey
	at    time.Time
}

var _ rules.Memory = &memory{}

func newMemory(c clock.PassiveClock, p rules.Policy) *memory {
	return &memory{
		clock: c, delay: p.ReplacementDelay, limit: p.MaxReplacements, began: c.Now(),
		pods: map[types.UID]sighting{}, ended: map[fleetKey]map[int]time.Time{}, proven: map[fleetKey]map[string]bool{},
		begun: map[string]rules.Begun{}, waiting: map[Request]rules.Waiting{}, fleets: map[Request]fleetKey{},
	}
}

func keyOf(pod *corev1.Pod) fleetKey {
	return fleetKey{pod.Namespace, pod.Labels[v1alpha1.LabelFleetUID]}
}

// observed is called for each version of a Pod that an informer shows.
func (m *memory) observed(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note(pod)
}

func (m *memory) note(pod *corev1.Pod) time.Time {
	now := m.clock.Now()
	is := signature(pod)
	was, known := m.pods[pod.UID]
	switch {
	case known && was.ready == is.ready && was.changed.Equal(is.changed) && was.started.Equal(is.started):
		is.since = was.since
	default:
		is.since = now
	}
	m.pods[pod.UID] = is
	key := keyOf(pod)
	if revision := pod.Labels[appsv1.StatefulSetRevisionLabel]; is.ready && revision != "" {
		if m.proven[key] == nil {
			m.proven[key] = map[string]bool{}
		}
		m.proven[key][revision] = true
	}
	held := slices.Contains(pod.Finalizers, v1alpha1.FinalizerReplacingDisk) && pod.DeletionTimestamp != nil
	if held && !slices.ContainsFunc(m.replacements, func(r replaced) bool { return r.pod == pod.UID }) {
		m.replacements = append(m.replacements, replaced{pod.UID, key, now})
	}
	return is.since
}

// signature is what changes when a Pod's readiness does: its condition, the time that the kubelet gives for it, or its container.
func signature(pod *corev1.Pod) sighting {
	var s sighting
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			s.ready, s.changed = c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil, c.LastTransitionTime.Time
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == v1alpha1.ContainerName && c.State.Running != nil {
			s.started = c.State.Running.StartedAt.Time
		}
	}
	return s
}

// gone is called when an informer shows that a Pod is not there any more.
func (m *memory) gone(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pods, pod.UID)
	delete(m.begun, string(pod.UID))
	_, ordinal, ok := render.ParsePodName(pod.Name)
	if key := keyOf(pod); ok && key.identity != "" {
		if m.ended[key] == nil {
			m.ended[key] = map[int]time.Time{}
		}
		m.ended[key][ordinal] = m.clock.Now()
	}
}

// Seen returns since when a Pod has been seen Ready, or not Ready, as it is now. One that no informer has shown yet is seen now.
func (m *memory) Seen(pod *corev1.Pod) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.note(pod)
}

// Proven reports whether a Pod of a revision has been seen Ready.
func (m *memory) Proven(namespace, identity, revision string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proven[fleetKey{namespace, identity}][revision]
}

// Ended returns when the last Pod of an ordinal from a count on was seen to be gone, or, if none was seen, when this process began.
func (m *memory) Ended(namespace, identity string, from int) (at time.Time, seen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = m.began
	for ordinal, ended := range m.ended[fleetKey{namespace, identity}] {
		if ordinal >= from && !ended.Before(at) {
			at, seen = ended, true
		}
	}
	return at, seen
}

// Begun returns what is known of a hand-over whose Pod this process deleted.
func (m *memory) Begun(podUID string) *rules.Begun {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.begun[podUID]; ok {
		return &b
	}
	return nil
}

// begin remembers that this process deletes the Pod of a hand-over, and the claim as it was judged.
func (m *memory) begin(podUID string, claim rules.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun[podUID] = rules.Begun{Claim: claim}
}

// refused counts a refusal to delete the claim of a hand-over.
func (m *memory) refused(podUID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.begun[podUID]; ok {
		b.Refusals++
		m.begun[podUID] = b
	}
}

// defaultReplacements is how many disks may be replaced within a delay, unless a tenth of the fleets is more.
const defaultReplacements = 3

// Brake returns the brake on replacements as a fleet sees it.
func (m *memory) Brake(fleet rules.Ref, identity string, now time.Time) *rules.Brake {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replacements = slices.DeleteFunc(m.replacements, func(r replaced) bool { return !now.Before(r.at.Add(m.delay)) })
	b := &rules.Brake{Max: m.limit, Recent: len(m.replacements)}
	if b.Max == 0 {
		b.Max = max(defaultReplacements, len(m.fleets)/10)
	}
	for _, r := range m.replacements {
		if until := r.at.Add(m.delay); b.Until.IsZero() || until.Before(b.Until) {
			b.Until = until
		}
		b.Own = b.Own || r.fleet == fleetKey{fleet.Namespace, identity}
	}
	b.KnownAt = m.began.Add(m.delay)
	for other, w := range m.waiting {
		if other.Kind != fleet.Kind || other.Namespace != fleet.Namespace || other.Name != fleet.Name {
			b.Waiting = append(b.Waiting, w)
		}
	}
	return b
}

// looked notes a fleet, and whether the brake holds it back.
func (m *memory) looked(request Request, identity string, braked *rules.Waiting) (held int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fleets[request] = fleetKey{request.Namespace, identity}
	delete(m.waiting, request)
	if braked != nil {
		m.waiting[request] = *braked
	}
	return len(m.waiting)
}

// forget drops what is known of a fleet that is gone, and returns how many others the brake holds back.
func (m *memory) forget(request Request) (held int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := m.fleets[request]
	delete(m.fleets, request)
	delete(m.waiting, request)
	for _, other := range m.fleets {
		if other == key {
			return len(m.waiting) // a rival under the same identity
		}
	}
	delete(m.ended, key)
	delete(m.proven, key)
	return len(m.waiting)
}
