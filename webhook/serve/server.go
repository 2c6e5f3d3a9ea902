// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fleetwright/fleetwright/webhook/registration"
)

// server serves reviews over TLS. Unlike the manager's own server it starts without a certificate: handshakes fail, and the
// replica is not ready, until there is one.
type server struct {
	address string
	handler http.Handler
	certs   *certificates
}

var (
	_ manager.Runnable               = &server{}
	_ manager.LeaderElectionRunnable = &server{}
)

// NeedLeaderElection says that every replica serves.
func (*server) NeedLeaderElection() bool { return false }

// shutdownTime bounds what reviews in flight may take once the listener is closed; the API server gives up sooner.
const shutdownTime = 15 * time.Second

// maxStreams is how many reviews of one connection are read at a time. An API server that has more opens another connection.
const maxStreams = 100

// readTimeout bounds how long a review may be on its way: a little longer than the API server waits for the answer.
const readTimeout = 6 * time.Second

// Start serves until the context ends, then answers what is in flight.
func (s *server) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for reviews: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+registration.Path, s.handler)
	srv := &http.Server{
		Handler:           mux,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certs.get},
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		MaxHeaderBytes:    64 << 10,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTimeout,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          nil,
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.ServeTLS(listener, "", "") }()
	log.Log.Info("serving reviews", "address", listener.Addr().String())
	select {
	case err := <-ended:
		return fmt.Errorf("serving reviews: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}
