// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

// seeds are a valid fleet and the input of every case of TestProblems.
func seeds(f *testing.F) {
	f.Helper()
	fleet := fleetText(f)
	f.Add([]byte(fleet))
	files, err := filepath.Glob("testdata/problems/*.txtar")
	require.NoError(f, err)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(f, err)
		for _, section := range archive.Files {
			switch {
			case len(section.Data) > 4096 || strings.HasSuffix(section.Name, ".want"):
			case strings.HasSuffix(section.Name, ".edit"):
				f.Add([]byte(fleet + string(section.Data)))
			default:
				f.Add(section.Data)
			}
		}
	}
}

// FuzzRead reads any bytes as the standard input. An error is Problems. What is read prints, reads back to the same fleets
// and the same text, and means to the usual reader what it means to this one.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := source.Read([]string{"-"}, source.Options{Stdin: bytes.NewReader(text), Namespace: "fuzz"})
		if err != nil {
			requireProblems(t, err)
			return
		}
		again := reread(t, set)
		require.Len(t, again.Documents, len(set.Documents))
		for i := range set.Documents {
			doc, second := &set.Documents[i], &again.Documents[i]
			require.Equal(t, doc.ID, second.ID)
			if doc.Fleet == nil {
				require.Equal(t, strings.TrimSpace(string(doc.Text)), strings.TrimSpace(string(second.Text)))
				continue
			}
			require.Equal(t, string(doc.Text), string(second.Text))
			require.Equal(t, printed(doc.Fleet), printed(second.Fleet))
			requireSameToOthers(t, doc)
		}
		_, err = output.Stream(io.Discard, set, render.Options{})
		require.NoError(t, err, "what was read renders")
	})
}

func requireProblems(t *testing.T, err error) {
	t.Helper()
	var problems source.Problems
	require.ErrorAs(t, err, &problems)
	for _, p := range problems {
		require.NotEmpty(t, p.Message)
		require.NotContains(t, p.String(), "\n")
	}
}

// reread reads the documents of a set back from a stream of them.
func reread(t *testing.T, set *source.Set) *source.Set {
	t.Helper()
	var stream bytes.Buffer
	for i := range set.Documents {
		stream.WriteString("---\n")
		stream.Write(set.Documents[i].Text)
		stream.WriteString("\n")
	}
	again, err := source.Read([]string{"-"}, source.Options{Stdin: &stream})
	require.NoError(t, err)
	return again
}

// printed is a fleet as text that does not depend on how its quantities were written.
func printed(f v1alpha1.Fleet) string { return string(tree.AppendYAML(nil, tree.Of(f))) }

// requireSameToOthers reads a fleet's text as the Kubernetes tools do.
func requireSameToOthers(t *testing.T, doc *source.Document) {
	t.Helper()
	var fleet v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if doc.Fleet.Kind() == v1alpha1.KindBucketFleet {
		fleet = &v1alpha1.BucketFleet{}
	}
	require.NoError(t, yaml.UnmarshalStrict(doc.Text, fleet))
	require.Equal(t, printed(doc.Fleet), printed(fleet))
}

// FuzzKustomization builds a kustomization of any bytes, beside a fleet and a base. It ends without a panic, reaches for
// nothing outside, and an error is Problems.
func FuzzKustomization(f *testing.F) {
	for _, seed := range []string{
		"resources: [fleet.yaml]\nnamePrefix: a-\n", "resources: [base, fleet.yaml]\nnamespace: b\n",
		"resources: [fleet.yaml]\npatches:\n- patch: |-\n    apiVersion: celld.eric.dev/v1alpha1\n    kind: PersistentFleet\n    metadata: {name: my-fleet}\n    spec: {replicas: 4}\n",
		"resources: [https://example.invalid]\ncomponents: [git@example.invalid:a/b]\n", "{}", "[", "resources: base",
		"resources: [fleet.yaml]\nimages: [{name: ghcr.io/ewhauser/celld, newTag: a}]\nconfigMapGenerator: [{name: a, literals: [a=b]}]\n",
		"resources: [fleet.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: a}\n  path: http://example.invalid\n",
		"resources: [fleet.yaml]\nreplacements:\n- source: {kind: PersistentFleet, fieldPath: metadata.name}\n  targets: [{select: {kind: PersistentFleet}, fieldPaths: [spec.identity]}]\n",
	} {
		f.Add([]byte(seed))
	}
	fleet := fleetText(f)
	dir := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(dir, "fleet.yaml"), []byte(fleet), 0o600))
	require.NoError(f, os.Mkdir(filepath.Join(dir, "base"), 0o700))
	base := []byte("resources: [fleet.yaml]\n")
	require.NoError(f, os.WriteFile(filepath.Join(dir, "base", "kustomization.yaml"), base, 0o600))
	other := strings.NewReplacer("my-fleet", "other", "my-bucket", "other").Replace(fleet)
	require.NoError(f, os.WriteFile(filepath.Join(dir, "base", "fleet.yaml"), []byte(other), 0o600))
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600))
		set, err := source.Read([]string{dir}, source.Options{})
		if errors.As(err, new(source.Problems)) {
			return
		}
		require.NoError(t, err)
		reread(t, set)
	})
}
