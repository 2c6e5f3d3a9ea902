// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render/source"
)

func fleetText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/fleet.yaml")
	require.NoError(t, err)
	return string(text)
}

func readStdin(text string) (*source.Set, error) {
	return source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(text)})
}

// many returns n valid fleets as one stream.
func many(t testing.TB, n int) string {
	t.Helper()
	one := fleetText(t)
	var b strings.Builder
	for i := range n {
		b.WriteString("---\n")
		b.WriteString(strings.NewReplacer("my-fleet", fmt.Sprintf("fleet-%d", i), "my-bucket", fmt.Sprintf("bucket-%d", i)).Replace(one))
	}
	return b.String()
}

func TestReadFillsInTypes(t *testing.T) {
	set, err := readStdin(fleetText(t) + `  resources:
    limits: {cpu: 1500m, memory: "1Gi"}
  cells: {maxResident: 7}
  lifecycle: {shutdownSeconds: 3}
  maintenance: {paused: True, restartToken: "2024-01-01"}
  network:
    extraEgress:
    - ports: [{port: 80}, {port: web}]
  podMetadata:
    annotations:
      a: |
        text
`)
	require.NoError(t, err)
	require.Equal(t, 1, set.Fleets())
	f := set.Documents[0].Fleet.(*v1alpha1.PersistentFleet)
	require.Equal(t, "my-fleet", f.Name)
	require.EqualValues(t, 3, *f.Spec.Replicas)
	require.Equal(t, "1500m", f.Spec.Resources.Limits.Cpu().String())
	require.Equal(t, "1Gi", f.Spec.Resources.Limits.Memory().String())
	require.EqualValues(t, 7, *f.Spec.Cells.MaxResident)
	require.True(t, f.Spec.Maintenance.Paused)
	require.Equal(t, "2024-01-01", f.Spec.Maintenance.RestartToken)
	require.Equal(t, "80", f.Spec.Network.ExtraEgress[0].Ports[0].Port.String())
	require.Equal(t, "web", f.Spec.Network.ExtraEgress[0].Ports[1].Port.String())
	require.Equal(t, source.ID{Group: v1alpha1.GroupVersion.Group, Kind: "PersistentFleet", Namespace: "fleets", Name: "my-fleet"}, set.Documents[0].ID)
	require.Equal(t, source.StdinName, set.Documents[0].File)
	require.Equal(t, source.Pos{Line: 1, Column: 1}, set.Documents[0].Pos)
}

// TestTextIsTheFleet checks that the usual reader of such files reads from Text what was read from the input.
func TestTextIsTheFleet(t *testing.T) {
	tests := map[string]string{
		"as it is":       "",
		"anchors":        "  podMetadata: {labels: &l {a: b}, annotations: {<<: *l, c: d}}\n",
		"nulls":          "  cells: ~\n  env:\n  network: {dns: ~}\n  lifecycle: {shutdownSeconds: null}\n",
		"quotes":         "  podMetadata: {annotations: {\"yes\": 'no', \"1\": \"2\", \"n\": \"~\", d: \"2001-01-01\"}}\n",
		"blocks":         "  podMetadata:\n    annotations:\n      a: |\n        b\n        c\n      d: >-\n        e\n        f\n",
		"odd characters": "  podMetadata: {annotations: {a: \"\\u0000\\e\\u2028\\ufeff\\U0001F600 \\t\"}}\n",
		"quantities":     "  resources: {limits: {cpu: 1e3, memory: 10Gi, example.com/x: 5}, requests: {cpu: '.5', example.com/x: 5}}\n",
		"status":         "status: {phase: Ready}\n",
	}
	for name, more := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := readStdin(fleetText(t) + more)
			require.NoError(t, err)
			var got v1alpha1.PersistentFleet
			require.NoError(t, yaml.UnmarshalStrict(set.Documents[0].Text, &got))
			got.TypeMeta = set.Documents[0].Fleet.(*v1alpha1.PersistentFleet).TypeMeta
			require.Equal(t, string(tree.AppendYAML(nil, tree.Of(set.Documents[0].Fleet))), string(tree.AppendYAML(nil, tree.Of(&got))))
			require.NotContains(t, string(set.Documents[0].Text), ": null", "the API server refuses most nulls")
			again, err := readStdin(string(set.Documents[0].Text))
			require.NoError(t, err)
			require.Equal(t, string(set.Documents[0].Text), string(again.Documents[0].Text), "text is a fixpoint")
			require.Empty(t, again.Warnings, "nothing is left to warn of")
		})
	}
}

func TestFlowAndBlockReadAlike(t *testing.T) {
	block, err := readStdin(fleetText(t))
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON([]byte(fleetText(t)))
	require.NoError(t, err)
	fromJSON, err := readStdin(string(asJSON))
	require.NoError(t, err)
	require.Equal(t, block.Documents[0].Fleet, fromJSON.Documents[0].Fleet)
}

func TestOrderOfProblemsIsStable(t *testing.T) {
	text := strings.ReplaceAll(many(t, 30), "replicas: 3", "replicsa: 3\n  cells: {maxResident: 0, x: 1}\n  podMetadata: {labels: {a: 1, b: 2, c: 3}}")
	_, first := readStdin(text)
	var problems source.Problems
	require.ErrorAs(t, first, &problems)
	for range 5 {
		_, again := readStdin(text)
		require.Equal(t, first.Error(), again.Error())
	}
	var last source.Pos
	for _, p := range problems {
		require.False(t, p.Pos.Line < last.Line || p.Pos.Line == last.Line && p.Pos.Column < last.Column, "%s comes after %v", p, last)
		last = p.Pos
	}
}

func TestProblemsAreBounded(t *testing.T) {
	tests := map[string]string{
		"many documents":   strings.Repeat("---\na\n", 100_000),
		"many fields":      fleetText(t) + strings.Repeat("  x: 1\n", 50_000),
		"many broken ones": strings.ReplaceAll(many(t, 3000), "zones: [", "zones: [["),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readStdin(text)
			var problems source.Problems
			require.ErrorAs(t, err, &problems)
			require.LessOrEqual(t, len(problems), 1001)
			require.Contains(t, problems[len(problems)-1].Message, "more problems")
		})
	}
}

func TestProblemIsOneSafeLine(t *testing.T) {
	p := source.Problem{File: "a\nb.yaml", Pos: source.Pos{Line: 3, Column: 4}, Object: source.ID{Kind: "Kind", Name: "x\x1b[31m"},
		Field: "spec.a\tb", Message: "first\r\nsecond \u202e \"quoted\" ä"}
	require.Equal(t, `a b.yaml:3:4: Kind x\x1b[31m: spec.a\tb: first second \u202e "quoted" ä`, p.String())
	long := source.Problem{File: "f", Message: "start " + strings.Repeat("ä", 1<<20) + " end"}
	require.Less(t, len(long.String()), 2000)
	require.Contains(t, long.String(), "f: start ")
	require.Contains(t, long.String(), " end")
}

// TestReadConcurrently is for the race detector: kustomize keeps its schema in the process.
func TestReadConcurrently(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fleet.yaml"), []byte(fleetText(t)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [fleet.yaml]\nnamePrefix: a-\n"), 0o600))
	want, err := source.Read([]string{dir}, source.Options{})
	require.NoError(t, err)
	require.Equal(t, "a-my-fleet", want.Documents[0].ID.Name)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, path := range []string{dir, filepath.Join(dir, "fleet.yaml")} {
				got, err := source.Read([]string{path}, source.Options{})
				if err != nil {
					t.Error(err)
				} else if path == dir && string(got.Documents[0].Text) != string(want.Documents[0].Text) {
					t.Errorf("got %s", got.Documents[0].Text)
				}
			}
		})
	}
	wg.Wait()
}
