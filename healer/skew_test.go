// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The clock is compared with the Date of each answer; an answer without one, and none at all, tell nothing.
func TestSkew(t *testing.T) {
	serverAhead := time.Duration(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = []string{time.Now().Add(serverAhead).UTC().Format(http.TimeFormat)}
	}))
	skew := &Skew{}
	client := &http.Client{Transport: skew.Wrap(http.DefaultTransport)}
	ask := func() time.Duration {
		answer, err := client.Get(server.URL)
		if err == nil {
			require.NoError(t, answer.Body.Close())
		}
		return skew.Get()
	}
	require.Zero(t, ask())
	serverAhead = -10 * time.Minute
	require.InDelta(t, 10*time.Minute, ask(), float64(5*time.Second))
	serverAhead = 10 * time.Minute
	require.InDelta(t, -10*time.Minute, ask(), float64(5*time.Second))
	server.Close()
	require.InDelta(t, -10*time.Minute, ask(), float64(5*time.Second))
	require.Zero(t, (*Skew)(nil).Get())
}

func TestUntimely(t *testing.T) {
	at := func(skew time.Duration) error {
		s := &Skew{}
		s.last.Store(int64(skew))
		return s.timely()
	}
	require.NoError(t, (*Skew)(nil).timely())
	require.NoError(t, at(maxSkew))
	require.NoError(t, at(-maxSkew))
	require.EqualError(t, at(12*time.Minute), "the clock of the healer's node is 12m0s ahead of the API server's, so no wait can be told: set it")
	require.EqualError(t, at(-12*time.Minute), "the clock of the healer's node is 12m0s behind the API server's, so no wait can be told: set it")
}
