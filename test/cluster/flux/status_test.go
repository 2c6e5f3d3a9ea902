// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// healths are what Flux says of each status that the healer's own tests keep:
// by itself, and with the expressions of the example.
var healths = map[string]struct{ itself, example status.Status }{
	"conflict":            {status.FailedStatus, status.FailedStatus},
	"deleting":            {status.InProgressStatus, status.InProgressStatus},
	"deployment":          {status.InProgressStatus, status.InProgressStatus},
	"disks":               {status.InProgressStatus, status.InProgressStatus},
	"first_start":         {status.InProgressStatus, status.InProgressStatus},
	"foreign_statefulset": {status.FailedStatus, status.FailedStatus},
	"growth":              {status.InProgressStatus, status.InProgressStatus},
	"image":               {status.FailedStatus, status.FailedStatus},
	"lost_label":          {status.FailedStatus, status.FailedStatus},
	"missing":             {status.InProgressStatus, status.InProgressStatus},
	"ordered":             {status.InProgressStatus, status.InProgressStatus},
	"paused":              {status.CurrentStatus, status.CurrentStatus},
	"paused_down":         {status.InProgressStatus, status.CurrentStatus},
	"pending":             {status.InProgressStatus, status.InProgressStatus},
	"ready":               {status.CurrentStatus, status.CurrentStatus},
	"ready_with_route":    {status.CurrentStatus, status.CurrentStatus},
	"removed_members":     {status.CurrentStatus, status.CurrentStatus},
	"replacing":           {status.InProgressStatus, status.InProgressStatus},
	"stopped":             {status.InProgressStatus, status.CurrentStatus},
	"stopping":            {status.InProgressStatus, status.CurrentStatus},
	"two_down":            {status.FailedStatus, status.FailedStatus},
	"unschedulable":       {status.FailedStatus, status.FailedStatus},
}

func TestHealthOfEveryStatus(t *testing.T) {
	files, err := filepath.Glob(root + "/healer/rules/testdata/status/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(healths), "a status has no entry")
	example := evaluators(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			want := healths[filepath.Base(t.Name())]
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			seen, err := yaml.YAMLToJSON(content)
			require.NoError(t, err)
			for _, kind := range []string{"PersistentFleet", "BucketFleet"} {
				fleet := fleetWith(t, kind, `, "status": `+string(seen))
				requireByItself(t, want.itself, fleet)
				requireEvaluates(t, want.example, example[kind], fleet)

				fleet.SetGeneration(fleet.GetGeneration() + 1) // what it says is about another spec
				requireByItself(t, status.InProgressStatus, fleet)
				requireEvaluates(t, status.InProgressStatus, example[kind], fleet)
			}
		})
	}
}

const noStatus = "no such attribute"

// A fleet that no healer has seen yet: by itself, Flux would not wait for it.
func TestHealthOfNoStatus(t *testing.T) {
	fleet := fleetWith(t, "PersistentFleet", "")
	requireByItself(t, status.CurrentStatus, fleet)
	_, err := evaluators(t)["PersistentFleet"].Evaluate(t.Context(), fleet)
	require.ErrorContains(t, err, noStatus) // Unknown to Flux, which waits for better
}

func fleetWith(t *testing.T, kind, status string) *unstructured.Unstructured {
	t.Helper()
	fleet := &unstructured.Unstructured{}
	require.NoError(t, fleet.UnmarshalJSON([]byte(`{"apiVersion": "celld.eric.dev/v1alpha1", "kind": "`+kind+`",
		"metadata": {"name": "my-fleet", "generation": 7}`+status+`}`)))
	return fleet
}

func requireEvaluates(t *testing.T, want status.Status, by *cel.StatusEvaluator, fleet *unstructured.Unstructured) {
	t.Helper()
	result, err := by.Evaluate(t.Context(), fleet)
	require.NoError(t, err)
	require.Equal(t, want, result.Status)
}

// evaluators are those that Flux makes of the example, by kind. Both variants
// of it say the same.
func evaluators(t *testing.T) map[string]*cel.StatusEvaluator {
	t.Helper()
	var first []any
	out := map[string]*cel.StatusEvaluator{}
	for _, file := range []string{fleetsFile, registryFile} {
		content, err := os.ReadFile(filepath.Join(root, "examples", "flux", file))
		require.NoError(t, err)
		objects, err := cluster.Decode(content)
		require.NoError(t, err)
		checks, _, err := unstructured.NestedSlice(objects[1].Object, "spec", "healthCheckExprs")
		require.NoError(t, err)
		if first == nil {
			first = checks
		}
		require.Equal(t, first, checks, file)
	}
	for _, check := range first {
		var typed kustomize.CustomHealthCheck
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(check.(map[string]any), &typed))
		evaluator, err := cel.NewStatusEvaluator(&typed.HealthCheckExpressions)
		require.NoError(t, err)
		out[typed.Kind] = evaluator
	}
	return out
}
