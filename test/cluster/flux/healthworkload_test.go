// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A workload of a fleet is current whatever it does; another one when it is
// rolled out, as Flux would say without the expressions.
func TestHealthOfWorkloads(t *testing.T) {
	const (
		ofFleet    = `{"celld.eric.dev/fleet-uid": "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"}`
		ofOthers   = `{"app.kubernetes.io/name": "a"}`
		set        = "StatefulSet"
		deployment = "Deployment"
		rolling    = `{"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}`
		none       = `{"replicas": 0, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}`
		canary     = `{"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}}`
		onDelete   = `{"replicas": 3, "updateStrategy": {"type": "OnDelete"}}`
	)
	tests := map[string]struct {
		kind, labels, spec, status string
		want                       status.Status
	}{
		"set of a fleet":        {set, ofFleet, rolling, `{"replicas": 3, "readyReplicas": 1}`, status.CurrentStatus},
		"new set of a fleet":    {set, ofFleet, rolling, `{"replicas": 0}`, status.CurrentStatus},
		"rolled out set":        {set, ofOthers, rolling, `{"observedGeneration": 7, "readyReplicas": 3, "updatedReplicas": 3}`, status.CurrentStatus},
		"set without labels":    {set, "", rolling, `{"observedGeneration": 7, "readyReplicas": 3, "updatedReplicas": 3}`, status.CurrentStatus},
		"set of nobody":         {set, "", none, `{"observedGeneration": 7, "replicas": 0}`, status.CurrentStatus},
		"new set":               {set, "", rolling, `{"replicas": 0}`, status.InProgressStatus},
		"set not seen":          {set, ofOthers, rolling, `{"observedGeneration": 6, "readyReplicas": 3, "updatedReplicas": 3}`, status.InProgressStatus},
		"set not ready":         {set, ofOthers, rolling, `{"observedGeneration": 7, "readyReplicas": 2, "updatedReplicas": 3}`, status.InProgressStatus},
		"set with none ready":   {set, ofOthers, rolling, `{"observedGeneration": 7, "updatedReplicas": 3}`, status.InProgressStatus},
		"set not updated":       {set, ofOthers, rolling, `{"observedGeneration": 7, "readyReplicas": 3}`, status.InProgressStatus},
		"partition":             {set, ofOthers, canary, `{"observedGeneration": 7, "readyReplicas": 3}`, status.CurrentStatus},
		"on delete":             {set, ofOthers, onDelete, `{"observedGeneration": 7, "readyReplicas": 3}`, status.CurrentStatus},
		"fleet's":               {deployment, ofFleet, `{"replicas": 3, "paused": true}`, `{}`, status.CurrentStatus},
		"rolled out":            {deployment, ofOthers, `{"replicas": 3}`, `{"observedGeneration": 7, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}`, status.CurrentStatus},
		"without labels":        {deployment, "", `{"replicas": 3}`, `{"observedGeneration": 7, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}`, status.CurrentStatus},
		"of nobody":             {deployment, "", `{"replicas": 0}`, `{"observedGeneration": 7}`, status.CurrentStatus},
		"new":                   {deployment, "", `{"replicas": 3}`, `{}`, status.InProgressStatus},
		"not seen":              {deployment, "", `{"replicas": 3}`, `{"observedGeneration": 6, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}`, status.InProgressStatus},
		"not available":         {deployment, "", `{"replicas": 3}`, `{"observedGeneration": 7, "replicas": 3, "updatedReplicas": 3}`, status.InProgressStatus},
		"not updated":           {deployment, "", `{"replicas": 3}`, `{"observedGeneration": 7, "replicas": 3, "availableReplicas": 3}`, status.InProgressStatus},
		"old ones are left yet": {deployment, "", `{"replicas": 3}`, `{"observedGeneration": 7, "replicas": 4, "updatedReplicas": 3, "availableReplicas": 3}`, status.InProgressStatus},
	}
	by := evaluators(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			labels := ""
			if tc.labels != "" {
				labels = `, "labels": ` + tc.labels
			}
			workload := &unstructured.Unstructured{}
			require.NoError(t, workload.UnmarshalJSON([]byte(`{"apiVersion": "apps/v1", "kind": "`+tc.kind+`",
				"metadata": {"name": "a", "generation": 7`+labels+`}, "spec": `+tc.spec+`, "status": `+tc.status+`}`)))
			requireEvaluates(t, tc.want, by[tc.kind], workload)
		})
	}
}
