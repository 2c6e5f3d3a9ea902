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
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/registration"
	"github.com/fleetwright/fleetwright/webhook/rules"
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
	facts := rulestest.Calm(rulestest.Live(f))
	handler := webhook.NewHandler(rulestest.Healer, gatherer(func(*rules.Input) rules.Facts { return facts }), metrics, clock.RealClock{}, logr.Discard())
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, registration.Path, bytes.NewReader(body)))
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
