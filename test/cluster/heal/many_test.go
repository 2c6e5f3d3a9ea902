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
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
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
	waitReady(b, w, fleets)
	b.Logf("%d fleets of %d members were up after %s; the healer holds %d MiB", fleets, membersEach, time.Since(began).Round(time.Second), p.memory(b))

	mark := w.Mark(b)
	time.Sleep(10 * time.Second)
	idle := requestsOf(b, w, mark)
	b.Logf("10 s of %d idle fleets cost %d requests", fleets, len(idle))
	require.Empty(b, idle)

	mark = w.Mark(b)
	lost := 0
	for i := 0; i < fleets; i += 10 {
		w.LoseVolume(fmt.Sprintf("data-fleet-%d-1", i))
		lost++
	}
	waitReady(b, w, fleets)
	b.Logf("%d lost disks cost %d requests, %.1f each; the healer holds %d MiB",
		lost, len(requestsOf(b, w, mark)), float64(len(requestsOf(b, w, mark)))/float64(lost), p.memory(b))
	b.ReportMetric(float64(p.memory(b)), "MiB")
	b.ReportMetric(float64(len(requestsOf(b, w, mark)))/float64(lost), "requests/fault")
}

func requestsOf(tb testing.TB, w *cluster.World, since cluster.Mark) []cluster.Request {
	tb.Helper()
	return w.Requests(tb, since, func(r cluster.Request) bool {
		return strings.HasPrefix(r.UserAgent, account) && r.Verb != "watch" && r.Resource != "leases"
	})
}

// waitReady waits until every member of every fleet has a good disk and runs.
func waitReady(tb testing.TB, w *cluster.World, fleets int) {
	tb.Helper()
	cluster.WaitWithin(tb, 20*time.Minute, fmt.Sprintf("%d fleets to be ready", fleets), func(ctx ctx) (bool, string) {
		time.Sleep(2 * time.Second)
		var list v1alpha1.PersistentFleetList
		if err := w.Client.List(ctx, &list, client.InNamespace(w.Namespace)); err != nil {
			return false, err.Error()
		}
		ready := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == v1alpha1.PhaseReady {
				ready++
			}
		}
		var claims corev1.PersistentVolumeClaimList
		if err := w.Client.List(ctx, &claims, client.InNamespace(w.Namespace)); err != nil {
			return false, err.Error()
		}
		bound := 0
		for i := range claims.Items {
			if claims.Items[i].Status.Phase == corev1.ClaimBound {
				bound++
			}
		}
		return ready == fleets && bound == fleets*membersEach, fmt.Sprintf("%d ready, %d disks", ready, bound)
	})
}

// memory returns the resident memory of the program in MiB.
func (p *program) memory(tb testing.TB) int {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(tb, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(tb, err)
	return kib / 1024
}
