// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// BenchmarkManyFleets brings up fleets of five members (500, or as many as
// $FLEETWRIGHT_FLEETS says), lets one member of each tenth be replaced, and
// prints what the healer, in a process of its own, takes for it. It takes a
// quarter of an hour for 500:
//
//	go test -run '^$' -bench ManyFleets -benchtime 1x -timeout 60m ./heal
func BenchmarkManyFleets(b *testing.B) {
	fleets := 500
	if text := os.Getenv("FLEETWRIGHT_FLEETS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		fleets = n
	}
	for range b.N {
		manyFleets(b, fleets)
	}
}

const membersEach = 5

func manyFleets(b *testing.B, fleets int) {
	b.Helper()
	w := newCluster(b).World(b)
	for i := range fleets*membersEach/50 + membersEach { // 16 CPUs each, and members ask for a quarter
		w.AddNode(w.Zones[i%len(w.Zones)])
	}
	p := startProgram(b, w, "--concurrency", "8")
	began := time.Now()
	for i := range fleets {
		s := fleetIn(b, w, membersEach, nil)
		s.SetName(fmt.Sprintf("fleet-%d", i))
		s.Store().Bucket = fmt.Sprintf("s3://%s-%d", w.Namespace, i)
		s.sync()
	}
	p.waitReady(b, fleets, 0)
	b.Logf("%d fleets of %d members were up after %s; the healer holds %d MiB", fleets, membersEach, time.Since(began).Round(time.Second), p.memory(b))

	waitCalm(b, w, byAnyHealer) // a gauge is set before its status is written
	mark := w.Mark(b)
	cluster.Holds(b, 10*time.Second, "idle fleets cost no request", func(ctx) (bool, string) {
		idle := w.Requests(b, mark, byAnyHealer)
		return len(idle) == 0, fmt.Sprint(idle)
	})

	mark = w.Mark(b)
	lost := 0
	for i := 0; i < fleets; i += 10 {
		w.Behave(fmt.Sprintf("fleet-%d-1", i), cluster.Crashing)
		w.LoseVolume(fmt.Sprintf("data-fleet-%d-1", i))
		lost++
	}
	p.waitReady(b, fleets, lost)
	requests := len(w.Requests(b, mark, byAnyHealer))
	b.Logf("%d lost disks cost %d requests; the healer holds %d MiB", lost, requests, p.memory(b))
	b.ReportMetric(float64(p.memory(b)), "MiB")
	b.ReportMetric(float64(requests)/float64(lost), "requests/fault")
}

// byAnyHealer matches requests about fleets; watches and the lease are not.
func byAnyHealer(r cluster.Request) bool {
	return strings.HasPrefix(r.UserAgent, account) && r.Verb != "watch" && r.Resource != "leases"
}

// waitReady waits until the healer says that every member of every fleet is
// ready, and that it has replaced as many lost disks as there were.
func (p *healerProgram) waitReady(tb testing.TB, fleets, lost int) {
	tb.Helper()
	cluster.WaitWithin(tb, 20*time.Minute, fmt.Sprintf("%d fleets to be ready", fleets), func(ctx ctx) (bool, string) {
		_, page := program.Get(ctx, p.metrics, "/metrics")
		ready, replaced := 0, 0
		for line := range strings.Lines(page) {
			switch {
			case strings.HasPrefix(line, "fleetwright_fleet_since_seconds{") && strings.Contains(line, `phase="Ready"`):
				ready++
			case strings.HasPrefix(line, "fleetwright_actions_total{") && strings.Contains(line, `rule="lost-disk"`) && strings.HasSuffix(line, " 1\n"):
				replaced++
			}
		}
		return ready == fleets && replaced == lost, fmt.Sprintf("%d ready, %d replaced", ready, replaced)
	})
}

// memory returns the resident memory of the program in MiB.
func (p *healerProgram) memory(tb testing.TB) int {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	require.NoError(tb, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(tb, err)
	return kib / 1024
}
