// SPDX-License-Identifier: Apache-2.0

package effects_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/effects"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

var update = flag.Bool("update", false, "rewrite what is expected")

// Each case of testdata/changes.txtar is a change of the fleets before it, in "NAME.old" and "NAME.new", and what it does.
func TestChanges(t *testing.T) {
	const name = "testdata/changes.txtar"
	archive, err := txtar.ParseFile(name)
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	ran := 0
	for i, f := range archive.Files {
		test, ok := strings.CutSuffix(f.Name, ".want")
		if !ok {
			continue
		}
		ran++
		t.Run(test, func(t *testing.T) {
			got := said(t, fleets(t, files[test+".old"]), fleets(t, files[test+".new"]))
			if *update {
				archive.Files[i].Data = []byte(got)
				return
			}
			require.Empty(t, cmp.Diff(string(f.Data), got))
		})
	}
	require.Greater(t, ran, 20)
	if *update {
		require.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o600))
	}
}

func said(t *testing.T, before, after []v1alpha1.Fleet) string {
	t.Helper()
	changes, err := effects.Of(before, after, render.Options{})
	require.NoError(t, err)
	var b strings.Builder
	for i := range changes {
		fmt.Fprintf(&b, "%s\n", &changes[i])
		for _, e := range changes[i].Effects {
			fmt.Fprintf(&b, "  %s %s\n", e.Verb, e.Text)
		}
	}
	return b.String()
}

const (
	persistentFleet = `apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: registry.test/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [a, b, c]}
`
	bucketFleet = `apiVersion: celld.eric.dev/v1alpha1
kind: BucketFleet
metadata: {name: cache, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: registry.test/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: celld-runtime
  storage: {bucket: s3://cache, region: us-east-1}
  placement: {zones: [a, b, c]}
`
)

// fleets makes fleets of lines such as "PersistentFleet" or "BucketFleet, replicas: 3 -> replicas: 5, OLD -> NEW".
func fleets(t *testing.T, text string) []v1alpha1.Fleet {
	t.Helper()
	var docs []string
	for line := range strings.Lines(text) {
		edits := strings.Split(strings.TrimSpace(line), "; ")
		doc := map[string]string{v1alpha1.KindPersistentFleet: persistentFleet, v1alpha1.KindBucketFleet: bucketFleet}[edits[0]]
		require.NotEmpty(t, doc, line)
		for _, edit := range edits[1:] {
			old, now, ok := strings.Cut(edit, " -> ")
			if !ok { // another field
				doc += "  " + edit + "\n"
				continue
			}
			require.Contains(t, doc, old)
			doc = strings.ReplaceAll(doc, old, now)
		}
		docs = append(docs, doc)
	}
	set, err := source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(strings.Join(docs, "---\n"))})
	require.NoError(t, err)
	var out []v1alpha1.Fleet
	for i := range set.Documents {
		f := set.Documents[i].Fleet
		f.Default()
		out = append(out, f)
	}
	return out
}
