// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/effects"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

const streamFleets = 1000

// BenchmarkRead reads a stream of fleets: one operation is one fleet.
func BenchmarkRead(b *testing.B) {
	path := stream(b)
	b.ReportAllocs()
	for n := 0; n < b.N; n += streamFleets {
		_, err := source.Read([]string{path}, source.Options{})
		require.NoError(b, err)
	}
}

// BenchmarkWrite renders a stream of fleets and encodes it: one operation is one fleet.
func BenchmarkWrite(b *testing.B) {
	set, err := source.Read([]string{stream(b)}, source.Options{})
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += streamFleets {
		_, err := output.Stream(io.Discard, set, render.Options{})
		require.NoError(b, err)
	}
}

// BenchmarkSealOf computes the seal of a stored object, as admission does.
func BenchmarkSealOf(b *testing.B) {
	set, err := source.Read([]string{filepath.Join("../..", fleet)}, source.Options{})
	require.NoError(b, err)
	objects, err := render.Render(set.Documents[0].Fleet, render.Options{})
	require.NoError(b, err)
	raw, err := objects[1].MarshalJSON()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := seal.Of(raw)
		require.NoError(b, err)
	}
}

func stream(b *testing.B) string {
	b.Helper()
	b.Chdir("../..")
	path := filepath.Join(b.TempDir(), "stream.yaml")
	require.NoError(b, writeStream(path, streamFleets, "celld-runtime"))
	_, err := os.Stat(path)
	require.NoError(b, err)
	return path
}

// BenchmarkPlan compares two states of a stream of fleets, all of which change: one operation is one fleet.
func BenchmarkPlan(b *testing.B) {
	set, err := source.Read([]string{stream(b)}, source.Options{})
	require.NoError(b, err)
	var before, after []v1alpha1.Fleet
	for _, doc := range set.Documents {
		doc.Fleet.Default()
		changed := doc.Fleet.DeepCopyObject().(v1alpha1.Fleet)
		changed.Shared().ServiceAccountName = "celld-other"
		before, after = append(before, doc.Fleet), append(after, changed)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += streamFleets {
		_, err := effects.Of(before, after, render.Options{})
		require.NoError(b, err)
	}
}
