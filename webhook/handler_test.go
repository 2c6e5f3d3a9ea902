// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/registration"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

var update = flag.Bool("update", false, "rewrite the expected output of golden tests")

// gatherer gives the same facts to everybody, if it is asked.
type gatherer func(in *rules.Input) rules.Facts

func (g gatherer) Gather(_ context.Context, in *rules.Input, needs rules.Needs) {
	if needs != (rules.Needs{}) {
		in.Facts = g(in)
	}
}

func (g gatherer) GatherNamespace(_ context.Context, in *rules.Input) {
	in.Facts.Namespace = g(in).Namespace
}

// surroundings are those of the stored reviews: a fleet my-fleet in its namespace, with three members.
func surroundings(t testing.TB) gatherer {
	return func(in *rules.Input) rules.Facts {
		base, name := rulestest.Persistent, "my-fleet"
		if in.Resource == rules.Deployments {
			base, name = rulestest.Bucket, "cache"
		}
		me := rulestest.Live(t, base, `{metadata: {name: `+name+`, namespace: `+in.Namespace+`}, spec: {storage: {bucket: "s3://`+in.Namespace+`"}}}`)
		if in.Operation == rules.Create && (in.Resource == rules.PersistentFleets || in.Resource == rules.StatefulSets) {
			return rulestest.Calm()
		}
		return rulestest.Calm(me)
	}
}

func newServer(t testing.TB, facts webhook.Gatherer) (*httptest.Server, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := webhook.NewMetrics(registry)
	require.NoError(t, err)
	server := httptest.NewServer(webhook.NewHandler(rulestest.Healer, facts, metrics, clock.RealClock{}, logr.Discard()))
	t.Cleanup(server.Close)
	return server, registry
}

func post(t testing.TB, server *httptest.Server, body io.Reader) (code int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+registration.Path, body)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(answer)
}

// The reviews are those that an API server sent, and the answers what it got.
func TestStoredReviews(t *testing.T) {
	server, _ := newServer(t, surroundings(t))
	files, err := filepath.Glob("testdata/reviews/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name, ok := strings.CutSuffix(file, ".json")
		if !ok || strings.HasSuffix(name, ".want") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(file)
			require.NoError(t, err)
			code, answer := post(t, server, bytes.NewReader(body))
			require.Equal(t, http.StatusOK, code, answer)
			var pretty bytes.Buffer
			require.NoError(t, json.Indent(&pretty, []byte(answer), "", "  "))
			if *update {
				require.NoError(t, os.WriteFile(name+".want.json", pretty.Bytes(), 0o600))
			}
			want, err := os.ReadFile(name + ".want.json")
			require.NoError(t, err, "run the test with -update")
			require.Equal(t, string(want), pretty.String())
		})
	}
}

// A request that is no review gets an HTTP error, and one whose objects are none an answer that says so.
func TestBadRequests(t *testing.T) {
	review := func(request string) string {
		return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":` + request + `}`
	}
	pod := review(`{"uid":"1","operation":"CREATE","resource":{"resource":"persistentfleets"},"object":{"kind":"Pod"}}`)
	tests := map[string]struct {
		body string
		code int
		want string
	}{
		"nothing":           {"", 400, "reading the review"},
		"garbage":           {"hello", 400, "reading the review"},
		"another version":   {strings.Replace(review(`{}`), "/v1", "/v1beta1", 1), 400, "want apiVersion admission.k8s.io/v1"},
		"no request":        {review("null"), 400, "want apiVersion"},
		"too large":         {review(`"` + strings.Repeat("x", 8<<20) + `"`), 413, "at most 7340032 bytes"},
		"deep":              {review(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), 400, "reading the review"},
		"operation":         {review(`{"uid":"1","operation":"CONNECT"}`), 200, `operation \"CONNECT\" is not one that is judged here`},
		"no object":         {review(`{"uid":"1","operation":"CREATE"}`), 200, "object of a CREATE is missing"},
		"no old object":     {review(`{"uid":"1","operation":"DELETE"}`), 200, "oldObject of a DELETE is missing"},
		"object is a list":  {review(`{"uid":"1","operation":"CREATE","object":[]}`), 200, "object: is a list, must be an object"},
		"not a fleet":       {pod, 200, `is a \"Pod\", not a fleet`},
		"options":           {review(`{"uid":"1","operation":"DELETE","oldObject":{},"options":[]}`), 200, "options: "},
		"megabytes of ones": {review(`{"uid":"1","operation":"CREATE","object":{"a":[` + strings.Repeat("1,", 2<<20) + `1]}}`), 200, "holds more than 50000 values"},
	}
	server, registry := newServer(t, surroundings(t))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, answer := post(t, server, strings.NewReader(tc.body))
			require.Equal(t, tc.code, code, answer)
			require.Contains(t, answer, tc.want)
			if code == http.StatusOK {
				var r admissionv1.AdmissionReview
				require.NoError(t, json.Unmarshal([]byte(answer), &r))
				require.False(t, r.Response.Allowed)
				require.EqualValues(t, "1", r.Response.UID)
				require.EqualValues(t, 400, r.Response.Result.Code)
			}
		})
	}
	require.InDelta(t, len(tests), counts(t, registry)["fleetwright_webhook_malformed_total"], 0)
}

// counts are the metrics, histograms by the number of their samples.
func counts(t testing.TB, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			key := family.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			out[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// Verdicts are counted by rule and outcome, and reviews timed.
func TestMetrics(t *testing.T) {
	server, registry := newServer(t, surroundings(t))
	for _, name := range []string{"scale-autoscaler", "claim-delete-current", "workload-scaled-by-healer"} {
		body, err := os.ReadFile("testdata/reviews/" + name + ".json")
		require.NoError(t, err)
		_, _ = post(t, server, bytes.NewReader(body))
	}
	got := counts(t, registry)
	for key, want := range map[string]float64{
		"fleetwright_webhook_verdicts_total Deny workload-replicas": 1,
		"fleetwright_webhook_verdicts_total Deny claim-delete":      1,
		"fleetwright_webhook_verdicts_total Allow seal":             1,
		"fleetwright_webhook_verdicts_total Deny reservation":       0,
		"fleetwright_webhook_review_seconds statefulsets":           2,
		"fleetwright_webhook_review_seconds persistentvolumeclaims": 1,
		"fleetwright_webhook_certificate_not_after_seconds":         0,
	} {
		require.Contains(t, got, key)
		require.InDelta(t, want, got[key], 0, key)
	}
}

// A client that goes away while its body is read costs nothing.
func TestClientGoesAway(t *testing.T) {
	server, _ := newServer(t, surroundings(t))
	body, pipe := io.Pipe()
	go func() {
		_, _ = io.WriteString(pipe, "{")
		_ = pipe.CloseWithError(errors.New("gone"))
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+registration.Path, body)
	require.NoError(t, err)
	_, err = server.Client().Do(request) //nolint:bodyclose // there is no response
	require.ErrorContains(t, err, "gone")
}

// More reviews at once than have a turn, all on one connection as from an API server, are all answered.
func TestManyAtOnce(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(webhook.NewHandler(rulestest.Healer, surroundings(t), metrics, clock.RealClock{}, logr.Discard()))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	body := largestReview(t)
	var done sync.WaitGroup
	for range 200 {
		done.Go(func() {
			if code, answer := post(t, server, bytes.NewReader(body)); code != http.StatusOK {
				t.Errorf("answered %d: %s", code, answer)
			}
		})
	}
	done.Wait()
}

// reviewOf is a review that reads facts, as long as is asked for.
func reviewOf(length int) []byte {
	const head, tail = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"DELETE","namespace":"fleets",` +
		`"resource":{"resource":"persistentvolumeclaims"},"oldObject":{"metadata":{"name":"data-my-fleet-9","labels":{"celld.eric.dev/fleet-uid":"x"}}},"name":"`, `"}}`
	return []byte(head + strings.Repeat("x", length-len(head)-len(tail)) + tail)
}

// stuck facts come when the channel is closed.
type stuck chan struct{}

func (s stuck) Gather(_ context.Context, in *rules.Input, _ rules.Needs) {
	<-s
	in.Facts = rulestest.Calm()
}

func (s stuck) GatherNamespace(context.Context, *rules.Input) {}

// Reviews that are read and wait take no more memory than 32 MiB, and those of one address half of that. Others are told to come
// again, and nothing is left over once all are answered.
func TestWaitingReviewsAreBounded(t *testing.T) {
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	facts := make(stuck)
	handler := webhook.NewHandler(rulestest.Healer, facts, metrics, clock.RealClock{}, logr.Discard())
	review := reviewOf(250 << 10)
	ask := func(from string, body io.Reader) *httptest.ResponseRecorder {
		answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, registration.Path, body)
		request.RemoteAddr, request.ContentLength = from, int64(len(review))
		handler.ServeHTTP(answer, request)
		return answer
	}
	const fit, few, more = 16 << 20 / (250 << 10), 5, 20
	var done sync.WaitGroup
	answers := make(chan *httptest.ResponseRecorder, fit+more)
	for i := range fit - few {
		read := make(chan struct{})
		done.Go(func() {
			answers <- ask(fmt.Sprintf("192.0.2.1:%d", i), io.MultiReader(bytes.NewReader(review), ended(read)))
		})
		<-read
	}
	for range few + more { // of which a few may fit
		done.Go(func() { answers <- ask("192.0.2.1:1", bytes.NewReader(review)) })
	}
	for range more { // while the others wait
		var refused *httptest.ResponseRecorder
		select {
		case refused = <-answers:
		case <-time.After(10 * time.Second):
			close(facts)
			t.Fatal("nobody is refused")
		}
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Equal(t, "1", refused.Header().Get("Retry-After"))
		require.Contains(t, refused.Body.String(), "too many reviews at once")
	}
	close(facts)
	done.Wait()
	close(answers)
	accepted := 0
	for answer := range answers {
		if answer.Code == http.StatusOK {
			accepted++
		}
	}
	require.GreaterOrEqual(t, accepted, fit-few)
	for range fit + more {
		require.Equal(t, http.StatusOK, ask("192.0.2.3:1", bytes.NewReader(review)).Code)
	}
}
