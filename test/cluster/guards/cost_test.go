// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apart is more than the tenth of a second that an API server leaves between
// two progress requests to etcd for a resource: a consistent list that comes
// sooner waits for the next one, and that is what a loop would measure. One
// fleet is applied here, with nothing of its kind just before.
const apart = 250 * time.Millisecond

// BenchmarkApply measures what the webhook costs a sync: one operation applies
// a fleet with it and another without. The medians and their ratio are shown.
//
//	go test ./guards -run xxx -bench Apply -benchtime 25x
func BenchmarkApply(b *testing.B) {
	c := newCluster(b)
	pace := time.NewTicker(apart)
	defer pace.Stop()
	apply := func(labels map[string]string) time.Duration {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cost-", Labels: labels}}
		require.NoError(b, c.Client.Create(b.Context(), namespace))
		f := inNamespace(b, c, namespace.Name)
		objects := f.rendered()
		<-pace.C
		started := time.Now()
		for _, object := range objects {
			require.NoError(b, f.apply(object))
		}
		return time.Since(started)
	}
	var with, away []time.Duration
	for b.Loop() {
		with = append(with, apply(nil))
		away = append(away, apply(map[string]string{without: "true"}))
	}
	median := func(took []time.Duration) float64 {
		slices.Sort(took)
		return took[len(took)/2].Seconds() * 1000
	}
	b.ReportMetric(median(with), "with-ms")
	b.ReportMetric(median(away), "without-ms")
	b.ReportMetric(median(with)/median(away), "ratio")
}
