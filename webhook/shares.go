// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net"
	"net/http"
	"sync"
)

// shares divides maxHeld bytes among addresses: nobody takes more than half of what the others leave. Uploads that never end, from
// any address that reaches the port, then leave room for the API servers.
type shares struct {
	mu    sync.Mutex
	total int64
	by    map[string]int64
}

// take counts bytes of an address, and reports whether they are within its share. They have to be given back in any case.
func (s *shares) take(from string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += n
	s.by[from] += n
	others := s.total - s.by[from]
	return s.by[from] <= (maxHeld-others)/2
}

func (s *shares) leave(from string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= n
	if s.by[from] -= n; s.by[from] <= 0 {
		delete(s.by, from)
	}
}

// address is where a request comes from, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
