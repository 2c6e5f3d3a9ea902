// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// maxSkew is how far the clock of this process may be from the API server's. Every wait compares this clock with times that
// the cluster wrote: a clock that is ten minutes fast ends them all.
const maxSkew = 30 * time.Second

// Skew measures how far the clock of this process is ahead of the API server's, by the Date of each answer.
type Skew struct{ last atomic.Int64 }

// Get returns the last measurement, which is exact to a second or two. It is zero before there is one.
func (s *Skew) Get() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.last.Load())
}

// Wrap measures at the answers that a transport gets.
func (s *Skew) Wrap(transport http.RoundTripper) http.RoundTripper { return &measuring{transport, s} }

type measuring struct {
	http.RoundTripper
	skew *Skew
}

// RoundTrip leaves requests and answers alone.
func (m *measuring) RoundTrip(request *http.Request) (*http.Response, error) {
	asked := time.Now()
	answer, err := m.RoundTripper.RoundTrip(request)
	if err != nil {
		return answer, err
	}
	// Whoever answers writes the date at some time between question and answer, and leaves out the fraction of the second.
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		now := time.Now()
		ahead, behind := asked.Sub(date.Add(time.Second)), date.Sub(now)
		m.skew.last.Store(int64(max(ahead, 0) - max(behind, 0)))
	}
	return answer, nil
}

// timely says why no wait can be told, nil when it can.
func (s *Skew) timely() error {
	skew := s.Get()
	if skew.Abs() <= maxSkew {
		return nil
	}
	how := "ahead of"
	if skew < 0 {
		how = "behind"
	}
	return fmt.Errorf("the clock of the healer's node is %s %s the API server's, so no wait can be told: set it", skew.Abs().Round(maxSkew), how)
}
