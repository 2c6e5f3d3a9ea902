// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"sync"
	"time"

	"github.com/fleetwright/fleetwright/healer/rules"
)

// tries slows down what does not get anywhere: an action that was done and is wanted again, since a policy undid or ignored it, and
// one that conflicts or is refused each time. All are told. Each verb is counted for itself: a replacement that is refused and called
// off goes round in circles.
type tries struct {
	mu   sync.Mutex
	last map[Request]map[rules.Verb]try
}

type try struct {
	action *rules.Action
	n      int       // that it was tried in a row
	until  time.Time // when it is tried again
	why    string
}

const (
	// freeTries are not slowed down: caches that lag, and two changes at once, are nothing unusual.
	freeTries = 3
	// triesExpire after this time without a try.
	triesExpire = 10 * slowestRetry
)

func newTries() *tries { return &tries{last: map[Request]map[rules.Verb]try{}} }

// wait says why an action is not tried now, and when it is; empty when it is tried.
func (t *tries) wait(r Request, a *rules.Action, now time.Time) (string, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.last[r][a.Verb]
	if !ok || !last.action.Same(a) || !now.Before(last.until) {
		return "", time.Time{}
	}
	return last.why, last.until
}

// tried notes an action, and why it may be wanted again.
func (t *tries) tried(r Request, a *rules.Action, why string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.last[r][a.Verb]
	if !ok || !last.action.Same(a) || now.Sub(last.until) > triesExpire {
		last = try{action: a}
	}
	last.n++
	last.until = now
	if last.n > freeTries {
		last.until = now.Add(min(firstRetry<<min(last.n-freeTries, 10), slowestRetry))
	}
	last.why = fmt.Sprintf("%s, %d times in a row", why, last.n)
	if t.last[r] == nil {
		t.last[r] = map[rules.Verb]try{}
	}
	t.last[r][a.Verb] = last
}

func (t *tries) forget(r Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, r)
}
