// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/webhook"
)

// Whatever is posted, there is an answer: an HTTP error, or a review with a verdict.
func FuzzHandler(f *testing.F) {
	files, err := filepath.Glob("testdata/reviews/*.json")
	require.NoError(f, err)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"UPDATE","resource":{"resource":"statefulsets"},` +
		`"subResource":"scale","object":{"spec":{"replicas":1e9}},"oldObject":{"status":{"selector":"celld.eric.dev/fleet-uid=x"}}}}`))
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(f, err)
	facts := calm(live(f))
	handler := webhook.NewHandler(healer, gatherer(func(*webhook.Input) webhook.Facts { return facts }), metrics, clock.RealClock{}, logr.Discard())
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, webhook.Path, bytes.NewReader(body)))
		if answer.Code != http.StatusOK {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, answer.Code)
			return
		}
		var review admissionv1.AdmissionReview
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &review))
		require.NotNil(t, review.Response)
		require.True(t, review.Response.Allowed || review.Response.Result.Message != "", "a refusal says why")
	})
}

// Any two objects get a verdict for each rule, with facts and without.
func FuzzReview(f *testing.F) {
	set := rendered(f, fleet(f, persistent), "StatefulSet/my-fleet")
	f.Add([]byte(set), []byte(edited(f, set, image)), uint8(0))
	f.Add([]byte(claim("data-my-fleet-0", foreign)), []byte(claim("data-my-fleet-0", "")), uint8(9))
	f.Add([]byte(scale(foreign, 1)), []byte(scale(foreign, 2)), uint8(3))
	f.Add([]byte(merged(f, persistent)), []byte(merged(f, persistent, `{spec: {replicas: 4}}`)), uint8(1))
	resources := []string{webhook.StatefulSets, webhook.PersistentFleets, webhook.BucketFleets, webhook.StatefulSets, webhook.Deployments,
		webhook.Budgets, webhook.NetworkPolicies, webhook.Services, webhook.Ingresses, webhook.Claims, webhook.Reservations}
	me := live(f)
	f.Fuzz(func(t *testing.T, old, object []byte, which uint8) {
		was, err := webhook.ParseObject(old)
		if err != nil {
			return
		}
		is, err := webhook.ParseObject(object)
		if err != nil {
			return
		}
		for _, operation := range []webhook.Operation{webhook.Create, webhook.Update, webhook.Delete} {
			in := &webhook.Input{Operation: operation, Resource: resources[int(which)%len(resources)], Namespace: "fleets", User: human, Healer: healer}
			if which == 3 {
				in.Subresource = "scale"
			}
			if operation != webhook.Delete {
				in.Object = is
			}
			if operation != webhook.Create {
				in.Old = was
			}
			_ = webhook.Needed(in)
			for _, facts := range []webhook.Facts{{}, calm(me)} {
				in.Facts = facts
				v := webhook.Review(in)
				require.Equal(t, v.Outcome == webhook.Allow, len(v.Reasons) == 0, "%v", v)
			}
		}
	})
}
