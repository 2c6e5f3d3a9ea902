// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// healerProgram is the healer as it ships, in a process of its own.
type healerProgram struct {
	*program.Program
	probes, metrics string // addresses
	started         time.Time
}

// startProgram runs it for a World, with the rights that it ships with, and
// returns once it serves.
func startProgram(t testing.TB, w *cluster.World, flags ...string) *healerProgram {
	t.Helper()
	binary := program.Build(t, w.Cluster, "fleetwright-healer")
	for {
		p := &healerProgram{probes: "127.0.0.1:" + program.FreePort(t), metrics: "127.0.0.1:" + program.FreePort(t), started: time.Now()}
		p.Program = program.Start(t, binary, asHealer(t, w.Cluster), append([]string{
			"--namespaces", w.Namespace, "--health-probe-bind-address", p.probes, "--metrics-bind-address", p.metrics,
		}, flags...)...)
		cluster.Wait(t, "the healer to serve, or to end", func(ctx ctx) (bool, string) {
			status, said := program.Get(ctx, p.metrics, "/metrics")
			return status == http.StatusOK || p.Ended(), said
		})
		if !p.Ended() {
			return p
		}
		require.Contains(t, p.Log(), "address already in use") // somebody else took a port: others, then
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	p := startProgram(t, w)
	s := fleetIn(t, w, 3, nil)
	s.sync()
	s.waitReady()
	for _, path := range []string{"/healthz", "/readyz"} {
		cluster.Wait(t, path, func(ctx ctx) (bool, string) {
			code, body := program.Get(ctx, p.probes, path)
			return code == http.StatusOK, body
		})
	}
	code, body := program.Get(t.Context(), p.metrics, "/metrics")
	require.Equal(t, http.StatusOK, code)
	for _, line := range []string{
		`fleetwright_desired_members{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `"} 3`,
		`fleetwright_ready_members{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `"} 3`,
		`fleetwright_actions_total{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `",outcome="done",rule="growth"} 1`,
		`fleetwright_build_info{`,
	} {
		require.Contains(t, body, line)
	}

	p.Stop(t)
	said := map[string]bool{}
	for line := range strings.Lines(p.Log()) {
		var entry struct{ Msg, Rule, Fleet, Reason string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		if entry.Rule != "" {
			require.Equal(t, "my-fleet", entry.Fleet)
			require.NotEmpty(t, entry.Reason)
			said[entry.Msg+" "+entry.Rule] = true
		}
	}
	require.True(t, said["done finalizer"] && said["done reserve"] && said["done growth"] && said["now Ready report"], "%v", said)
}
