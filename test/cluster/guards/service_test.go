// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// service plays a Service: it forwards connections to the replicas that it
// knows, one after the other, and refuses them when it knows none.
type service struct {
	port string

	mu       sync.Mutex
	replicas []*replica
	turn     int
	open     map[net.Conn]bool
}

func newService(t testing.TB) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0") // it stays as long as the process
	require.NoError(t, err)
	s := &service{open: map[net.Conn]bool{}}
	_, s.port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(from)
		}
	}()
	return s
}

// route sets the replicas of new connections.
func (s *service) route(replicas ...*replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = replicas
}

func (s *service) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replicas) == 0 {
		return ""
	}
	s.turn++
	return s.replicas[s.turn%len(s.replicas)].address
}

// cut ends every connection, so that the next request makes a new one.
func (s *service) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for connection := range s.open {
		_ = connection.Close()
	}
}

func (s *service) hold(connection net.Conn, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[connection] = true
		return
	}
	delete(s.open, connection)
}

func (s *service) forward(from net.Conn) {
	s.hold(from, true)
	defer func() {
		s.hold(from, false)
		_ = from.Close()
	}()
	address := s.next()
	if address == "" {
		return
	}
	to, err := net.Dial("tcp", address) // ends with the other side
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	ended := make(chan struct{}, 2)
	pipe := func(a, b net.Conn) {
		_, _ = io.Copy(a, b)
		ended <- struct{}{}
	}
	go pipe(to, from)
	go pipe(from, to)
	<-ended
}
