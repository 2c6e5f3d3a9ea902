// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// rate is how many reviews a second the load consists of. A cluster of a thousand fleets that all sync at once sends fewer.
const rate = 500

// largest is a fleet with every list full.
func largest(t testing.TB, token string) v1alpha1.Fleet {
	t.Helper()
	f := rulestest.Fleet(t, rulestest.Persistent, `{spec: {placement: {zones: [a, b, c, d, e, f]}, replicas: 100, maintenance: {restartToken: `+token+`}}}`)
	spec := f.Shared()
	spec.PodMetadata.Labels, spec.PodMetadata.Annotations = map[string]string{}, map[string]string{}
	for i := range 32 {
		name := fmt.Sprintf("CELLD_APPLICATION_SETTING_%02d", i)
		spec.Env = append(spec.Env, v1alpha1.EnvVar{Name: name, Value: strings.Repeat("v", 200)})
		spec.PodMetadata.Labels[fmt.Sprintf("example.com/label-%02d", i)] = strings.Repeat("l", 60)
		spec.PodMetadata.Annotations[fmt.Sprintf("example.com/annotation-%02d", i)] = strings.Repeat("a", 250)
	}
	for i := range 16 {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, v1alpha1.SecretReference{Name: fmt.Sprintf("pull-secret-%02d", i)})
	}
	require.Empty(t, f.Validate())
	return f
}

// managed is an object with managed fields as two managers leave them: a key for each field.
func managed(t testing.TB, object string) map[string]any {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal([]byte(object), &o))
	var fields func(v any) any
	fields = func(v any) any {
		out := map[string]any{}
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				out["f:"+key] = fields(value)
			}
		case []any:
			for i, value := range v {
				out[fmt.Sprintf(`k:{"name":"%d"}`, i)] = fields(value)
			}
		}
		return out
	}
	entry := map[string]any{"manager": "sync-tool", "operation": "Apply", "fieldsV1": fields(o["spec"])}
	o["metadata"].(map[string]any)["managedFields"] = []any{entry, entry}
	return o
}

// largestReview is an upgrade of the largest StatefulSet.
func largestReview(t testing.TB) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": map[string]any{
		"uid": "1", "operation": "UPDATE", "namespace": "fleets", "resource": map[string]string{"group": "apps", "version": "v1", "resource": "statefulsets"},
		"userInfo":  map[string]string{"username": rulestest.Human},
		"object":    managed(t, rulestest.Rendered(t, largest(t, "b"), "StatefulSet/my-fleet")),
		"oldObject": managed(t, rulestest.Rendered(t, largest(t, "a"), "StatefulSet/my-fleet")),
	}})
	require.NoError(t, err)
	return body
}

// BenchmarkReview is the work for one review, without HTTP. docs/decisions.md says what was decided by it.
func BenchmarkReview(b *testing.B) {
	body := largestReview(b)
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(b, err)
	handler := webhook.NewHandler(rulestest.Healer, surroundings(b), metrics, clock.RealClock{}, logr.Discard())
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, registration.Path, bytes.NewReader(body)))
		require.Contains(b, answer.Body.String(), `"allowed":true`)
	}
}

// BenchmarkLoad sends reviews at a fixed rate over TLS on loopback, as the API server does, and prints how long answers take
// and what the process, client included, takes from the system. Run it with -benchtime=5000x.
func BenchmarkLoad(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
	body := largestReview(b)
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(b, err)
	server := httptest.NewUnstartedServer(webhook.NewHandler(rulestest.Healer, surroundings(b), metrics, clock.RealClock{}, logr.Discard()))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()

	took := make([]time.Duration, b.N)
	var done sync.WaitGroup
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		done.Go(func() {
			started := time.Now()
			code, _ := post(b, server, bytes.NewReader(body))
			took[i] = time.Since(started)
			if code != http.StatusOK {
				b.Errorf("answered %d", code)
			}
		})
	}
	done.Wait()
	b.StopTimer()
	slices.Sort(took)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
	b.ReportMetric(float64(len(body))/1024, "KiB/review")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reviews/s")
}

// BenchmarkFlood posts reviews of 7 MiB from everywhere at once, and prints what the process takes from the system, client
// included.
func BenchmarkFlood(b *testing.B) {
	body := []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE","object":{"a":[` +
		strings.Repeat(`{},`, 2_300_000) + `1]}}}`)
	server, _ := newServer(b, surroundings(b))
	for b.Loop() {
		var done sync.WaitGroup
		for range 32 {
			done.Go(func() { _, _ = post(b, server, bytes.NewReader(body)) })
		}
		done.Wait()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MiB")
	b.ReportMetric(float64(len(body))/(1<<20), "MiB/review")
}
