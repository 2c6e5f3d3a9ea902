// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

// TestGolden renders each testdata/<case>/fleet.yaml and compares it with want.yaml beside it.
func TestGolden(t *testing.T) {
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			set, err := source.Read([]string{filepath.Join(dir, "fleet.yaml")}, source.Options{})
			require.NoError(t, err)
			var got bytes.Buffer
			_, err = output.Stream(&got, set, render.Options{})
			require.NoError(t, err)
			requireGolden(t, filepath.Join(dir, "want.yaml"), got.String())
		})
	}
}
