// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// A server that stops answers what it has begun, and takes nothing new.
func TestServerEndsWhatItBegan(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	certs := newCertificates(testingclock.NewFakePassiveClock(now), metrics, serverName)
	require.NoError(t, certs.offer(newAuthority(t).sign(serverName, 1000000)))
	begun, finish := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		_, _ = io.WriteString(w, "done")
	})
	address := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&server{address: address, handler: handler, certs: certs}).Start(ctx) }()

	listens := func() bool {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}
	require.Eventually(t, listens, limit, tick)
	client := &http.Client{Timeout: limit, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer := make(chan string, 1)
	go func() {
		answer <- post(t.Context(), client, "https://"+address+registration.Path)
	}()
	receive(t, begun)
	stop()
	require.Eventually(t, func() bool { return !listens() }, limit, tick)
	close(finish)
	require.Equal(t, "done", receive(t, answer))
	require.NoError(t, receive(t, ended))
}

const (
	limit = 10 * time.Second
	tick  = 10 * time.Millisecond
)

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(limit):
		require.FailNow(t, "nothing came")
	}
	return value
}

// post returns what is answered, or the error.
func post(ctx context.Context, client *http.Client, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestServerSaysWhyItCannotListen(t *testing.T) {
	err := (&server{address: "localhost:nope"}).Start(t.Context())
	require.ErrorContains(t, err, "listening for reviews")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func TestDrainingIsNotReady(t *testing.T) {
	var draining atomic.Bool
	require.NoError(t, notDraining(&draining)(nil))
	draining.Store(true)
	require.ErrorContains(t, notDraining(&draining)(nil), "stopping")
}

// The cache keeps what facts are made of, and nothing else.
func TestSlim(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{"a": "b", "celld.eric.dev/protect": "true"}, "managedFields": []any{map[string]any{}}},
		"spec": map[string]any{"replicas": int64(3), "storage": map[string]any{"bucket": "s3://a"}, "env": []any{}, "identity": "x",
			"maintenance": map[string]any{"paused": true}, "workload": "Ordered"},
		"status": map[string]any{"phase": "Ready"},
	}}
	slimmed, err := slim(u)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{"celld.eric.dev/protect": "true"}},
		"spec": map[string]any{"replicas": int64(3), "storage": map[string]any{"bucket": "s3://a"}, "identity": "x",
			"maintenance": map[string]any{"paused": true}, "workload": "Ordered"},
	}, slimmed.(*unstructured.Unstructured).Object)
}

func TestFilesAreNamedWhenTheyAreMissing(t *testing.T) {
	err := addFiles(nil, nil, t.TempDir())
	require.ErrorContains(t, err, "reading the certificate from ")
}
