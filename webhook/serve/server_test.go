// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/webhook"
)

// A connection carries a bounded number of reviews at a time: the server says so in its first frame.
func TestServerBoundsStreams(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	certs := newCertificates(testingclock.NewFakePassiveClock(now), metrics, serverName)
	require.NoError(t, certs.offer(newAuthority(t).sign(serverName, 1000000)))
	address := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&server{address: address, handler: http.NotFoundHandler(), certs: certs}).Start(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()

	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
	var connection io.ReadWriteCloser
	require.Eventually(t, func() bool {
		connection, err = dialer.DialContext(ctx, "tcp", address)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	defer func() { _ = connection.Close() }()
	_, err = io.WriteString(connection, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // with empty settings
	require.NoError(t, err)
	head := make([]byte, 9)
	_, err = io.ReadFull(connection, head)
	require.NoError(t, err)
	require.EqualValues(t, 4, head[3], "settings come first")
	settings := make([]byte, int(head[1])<<8|int(head[2]))
	_, err = io.ReadFull(connection, settings)
	require.NoError(t, err)
	said := map[uint16]uint32{}
	for ; len(settings) > 0; settings = settings[6:] {
		said[binary.BigEndian.Uint16(settings)] = binary.BigEndian.Uint32(settings[2:])
	}
	const maxConcurrentStreams = 3
	require.EqualValues(t, 100, said[maxConcurrentStreams])
}
