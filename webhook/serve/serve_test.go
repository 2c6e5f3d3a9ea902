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

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/webhook"
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

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer := make(chan string, 1)
	go func() {
		for {
			response, err := client.Post("https://"+address+webhook.Path, "application/json", http.NoBody) //nolint:noctx // ends below
			if err != nil {
				continue // it does not listen yet
			}
			text, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			answer <- string(text)
			return
		}
	}()
	<-begun
	stop()
	close(finish)
	require.Equal(t, "done", <-answer)
	require.NoError(t, <-ended)
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.Error(t, err)
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
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{"a": "b"}, "managedFields": []any{map[string]any{}}},
		"spec": map[string]any{"replicas": int64(3), "storage": map[string]any{"bucket": "s3://a"}, "env": []any{}, "identity": "x",
			"maintenance": map[string]any{"paused": true}, "workload": "Ordered"},
		"status": map[string]any{"phase": "Ready"},
	}}
	slimmed, err := slim(u)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"replicas": int64(3), "storage": map[string]any{"bucket": "s3://a"}, "identity": "x",
			"maintenance": map[string]any{"paused": true}, "workload": "Ordered"},
	}, slimmed.(*unstructured.Unstructured).Object)
}

func TestFilesAreNamedWhenTheyAreMissing(t *testing.T) {
	err := addFiles(nil, nil, t.TempDir())
	require.ErrorContains(t, err, "reading the certificate from ")
}
