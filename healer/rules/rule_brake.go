// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// braked says why the brake holds a replacement back, empty when it does not. One cause can make every fleet want a disk at the same
// minute, so only some may be replaced within a delay: fleets without a recent replacement first, then whoever is down longest.
func (l *look) braked(down time.Time) string {
	b := l.Brake
	if b == nil {
		return ""
	}
	if l.now.Before(b.KnownAt) {
		return fmt.Sprintf("held back until %s: this healer began less than %s ago, and does not know which disks were replaced before",
			stamp(b.KnownAt), l.policy.ReplacementDelay)
	}
	free := b.Max - b.Recent
	mine := Waiting{Own: b.Own, Down: down}
	ahead := 0
	for _, other := range b.Waiting {
		if other.before(mine) {
			ahead++
		}
	}
	if ahead < free {
		return ""
	}
	return fmt.Sprintf("held back: %d of at most %d replacements over all fleets within %s are taken, and %d fleets are ahead; the next one at %s",
		b.Recent, b.Max, l.policy.ReplacementDelay, ahead, stamp(b.Until))
}

func (w Waiting) before(other Waiting) bool {
	if w.Own != other.Own {
		return !w.Own
	}
	return w.Down.Before(other.Down)
}

// heldBack is the verdict about a member that the brake holds back.
func (l *look) heldBack(m *Member, reason v1alpha1.Reason, text string) Verdict {
	l.brake = &Waiting{Own: l.Brake.Own, Down: m.Pod.Transition}
	v := waits(reason, text).until(later(l.Brake.KnownAt, l.Brake.Until))
	if !v.Until.After(l.now) {
		return v.recheck()
	}
	return v
}
