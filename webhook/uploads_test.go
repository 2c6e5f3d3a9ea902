// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// An address that stalls a large review keeps no other one from being read.
func TestStalledLargeUpload(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	handler := webhook.NewHandler(rulestest.Healer, surroundings(t), metrics, clock.RealClock{}, logr.Discard())
	large := reviewOf(300 << 10)
	ask := func(from string, body io.Reader) int {
		answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, registration.Path, body)
		request.RemoteAddr, request.ContentLength = from, int64(len(large))
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	waits, ends := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { ask("192.0.2.1:1", &stalled{nil, waits, ends}) })
	<-waits
	require.Equal(t, http.StatusServiceUnavailable, ask("192.0.2.1:2", bytes.NewReader(large)))
	require.Equal(t, http.StatusOK, ask("192.0.2.2:1", bytes.NewReader(large)))
	close(ends)
	done.Wait()
	require.Equal(t, http.StatusOK, ask("192.0.2.1:2", bytes.NewReader(large)))
}

// ended is the end of a body, which tells when it was reached.
type ended chan struct{}

func (e ended) Read([]byte) (int, error) {
	close(e)
	return 0, io.EOF
}

// stalled is a body of which some has arrived, and the rest never comes.
type stalled struct {
	arrived []byte
	waits   chan<- struct{}
	ends    <-chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	if n := copy(p, s.arrived); n > 0 {
		s.arrived = s.arrived[n:]
		return n, nil
	}
	s.waits <- struct{}{}
	<-s.ends
	return 0, io.ErrUnexpectedEOF
}

// Uploads that announce much and stall keep nobody from being answered; an address that sends much of them leaves room for others.
func TestStalledUploads(t *testing.T) {
	for name, c := range map[string]struct {
		uploads, arrived int
		own              int // code of a review from the same address
	}{"little": {300, 33 << 10, http.StatusOK}, "much": {300, 249 << 10, http.StatusServiceUnavailable}} {
		t.Run(name, func(t *testing.T) {
			metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
			require.NoError(t, err)
			handler := webhook.NewHandler(rulestest.Healer, surroundings(t), metrics, clock.RealClock{}, logr.Discard())
			ask := func(from string, length int64, body io.Reader) int {
				answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, registration.Path, body)
				request.RemoteAddr, request.ContentLength = from, length
				handler.ServeHTTP(answer, request)
				return answer.Code
			}
			waits, ends := make(chan struct{}), make(chan struct{})
			var done sync.WaitGroup
			for range c.uploads {
				done.Go(func() {
					if ask("192.0.2.1:1", 250<<10, &stalled{reviewOf(c.arrived), waits, ends}) == http.StatusServiceUnavailable {
						waits <- struct{}{}
					}
				})
			}
			for range c.uploads {
				<-waits
			}
			body := reviewOf(100 << 10)
			require.Equal(t, c.own, ask("192.0.2.1:2", int64(len(body)), bytes.NewReader(body)))
			require.Equal(t, http.StatusOK, ask("192.0.2.2:1", int64(len(body)), bytes.NewReader(body)))
			close(ends)
			done.Wait()
			require.Equal(t, http.StatusOK, ask("192.0.2.1:2", int64(len(body)), bytes.NewReader(body)))
		})
	}
}

// What is announced takes memory when it comes.
func TestAnnouncedBodyTakesLittle(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	handler := webhook.NewHandler(rulestest.Healer, surroundings(t), metrics, clock.RealClock{}, logr.Discard())
	const times = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		request := httptest.NewRequest(http.MethodPost, registration.Path, iotest.ErrReader(errors.New("gone")))
		request.ContentLength = 250 << 10
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/times, uint64(64<<10))
}
