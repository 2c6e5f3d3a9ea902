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

// fleetsEnv names the variable that holds how many fleets BenchmarkManyFleets has.
const fleetsEnv = "FLEETWRIGHT_FLEETS"

// BenchmarkManyFleets runs the healer, in a process of its own, over 500 fleets
// of five members, or as many fleets as $FLEETWRIGHT_FLEETS says, and reports:
//
//	up-s              until all fleets are up; the control plane takes most of it
//	idle-requests     requests of the healer in ten seconds in which nothing happens
//	requests/fault    what it costs to replace a member whose disk is lost
//	decided-s         from the start of another healer until it has decided about every fleet
//	handed-over-s     the same for one that stands by, from the moment when the leader is told to stop
//	failed-over-s     the same, from the moment when the leader is killed
//	MiB, peak-MiB     resident memory of the last healer, and the most that any of them had
//
// On two cores 500 fleets take a quarter of an hour:
//
//	go test -run '^$' -bench ManyFleets -benchtime 1x -timeout 60m ./heal
func BenchmarkManyFleets(b *testing.B) {
	fleets := 500
	if text := os.Getenv(fleetsEnv); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		fleets = n
	}
	for range b.N {
		(&manyFleets{b: b, w: newCluster(b).World(b), fleets: fleets}).run()
	}
}

const membersEach = 5

// manyFleets is a run of the benchmark.
type manyFleets struct {
	b      *testing.B
	w      *cluster.World
	fleets int
	peak   int // MiB
}

func (m *manyFleets) run() {
	first := m.start()
	m.report(m.create(first), "up-s")
	m.report(float64(m.idleRequests()), "idle-requests")
	m.report(m.loseDisks(first), "requests/fault")
	m.stop(first)

	second := m.start()
	m.report(m.decided(second, second.started), "decided-s")

	third := m.standBy()
	told := time.Now()
	m.stop(second)
	m.report(m.decided(third, told), "handed-over-s")

	fourth := m.standBy()
	m.note(third)
	killed := time.Now()
	third.Kill(m.b)
	m.report(m.decided(fourth, killed), "failed-over-s")

	m.report(float64(m.note(fourth)), "MiB")
	m.report(float64(m.peak), "peak-MiB")
	m.stop(fourth)
}

// report also logs, since nothing else tells how far a long run has come.
func (m *manyFleets) report(value float64, unit string) {
	m.b.ReportMetric(value, unit)
	fmt.Fprintf(os.Stderr, "%s %d fleets: %.1f %s\n", time.Now().Format(time.TimeOnly), m.fleets, value, unit)
}

func (m *manyFleets) start() *healerProgram {
	return startProgram(m.b, m.w, "--concurrency", "8", "--leader-elect", "--leader-election-namespace", system)
}

// standBy starts a healer beside the one that leads, and returns once its
// caches are filled: it is ready then.
func (m *manyFleets) standBy() *healerProgram {
	p := m.start()
	m.await(p, "the healer to be ready", func(ctx ctx) (bool, string) {
		status, said := program.Get(ctx, p.probes, "/readyz")
		return status == 200, said
	})
	return p
}

func (m *manyFleets) stop(p *healerProgram) {
	m.note(p)
	p.Stop(m.b)
}

// note returns what memory a healer has, and keeps the most.
func (m *manyFleets) note(p *healerProgram) int {
	m.peak = max(m.peak, p.memory(m.b, "VmHWM:"))
	return p.memory(m.b, "VmRSS:")
}

// create makes the fleets, and the nodes for them, and returns how many
// seconds they took.
func (m *manyFleets) create(p *healerProgram) float64 {
	m.w.AddNodes(m.fleets*membersEach/50 + membersEach) // 16 CPUs each, and members ask for a quarter
	began := time.Now()
	for i := range m.fleets {
		s := fleetIn(m.b, m.w, membersEach, nil)
		s.SetName(fmt.Sprintf("fleet-%d", i))
		s.Store().Bucket = fmt.Sprintf("s3://%s-%d", m.w.Namespace, i)
		s.sync()
	}
	m.waitReady(p, 0)
	return time.Since(began).Seconds()
}

func (m *manyFleets) idleRequests() int {
	waitCalm(m.b, m.w, byAnyHealer) // a gauge is set before its status is written
	mark := m.w.Mark(m.b)
	cluster.Holds(m.b, 10*time.Second, "idle fleets cost no request", func(ctx) (bool, string) {
		idle := m.w.Requests(m.b, mark, byAnyHealer)
		return len(idle) == 0, fmt.Sprint(idle)
	})
	return len(m.w.Requests(m.b, mark, byAnyHealer))
}

// loseDisks has one member of each tenth fleet replaced.
func (m *manyFleets) loseDisks(p *healerProgram) float64 {
	mark := m.w.Mark(m.b)
	lost := 0
	for i := 0; i < m.fleets; i += 10 {
		m.w.Behave(fmt.Sprintf("fleet-%d-1", i), cluster.Crashing)
		m.w.LoseVolume(fmt.Sprintf("data-fleet-%d-1", i))
		lost++
	}
	m.waitReady(p, lost)
	return float64(len(m.w.Requests(m.b, mark, byAnyHealer))) / float64(lost)
}

// decided returns how many seconds after a moment a healer has found every
// fleet to be Ready.
func (m *manyFleets) decided(p *healerProgram, since time.Time) float64 {
	m.waitReady(p, 0)
	return time.Since(since).Seconds()
}

// byAnyHealer matches requests about fleets; watches and the lease are not.
func byAnyHealer(r cluster.Request) bool {
	return strings.HasPrefix(r.UserAgent, account) && r.Verb != "watch" && r.Resource != "leases"
}

// waitReady waits until a healer says that every member of every fleet is
// ready, and that it has itself replaced as many lost disks as there were.
func (m *manyFleets) waitReady(p *healerProgram, lost int) {
	m.await(p, fmt.Sprintf("%d fleets to be ready", m.fleets), func(ctx ctx) (bool, string) {
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
		return ready == m.fleets && replaced == lost, fmt.Sprintf("%d ready, %d replaced", ready, replaced)
	})
}

// await checks twice a second, and not more often: it costs a healer of many
// fleets time to print its metrics.
func (m *manyFleets) await(p *healerProgram, awaited string, check cluster.Check) {
	m.b.Helper()
	next := time.Now()
	ok, seen := false, ""
	limit := 10*time.Minute + time.Duration(m.fleets)*3*time.Second
	cluster.WaitWithin(m.b, limit, awaited, func(ctx ctx) (bool, string) {
		require.False(m.b, p.Ended(), p.Log())
		if now := time.Now(); !now.Before(next) {
			next = now.Add(time.Second / 2)
			ok, seen = check(ctx)
		}
		return ok, seen
	})
}

// memory returns a figure of /proc/PID/status in MiB.
func (p *healerProgram) memory(tb testing.TB, figure string) int {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	require.NoError(tb, err)
	_, rest, _ := strings.Cut(string(text), figure)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(tb, err)
	return kib / 1024
}
