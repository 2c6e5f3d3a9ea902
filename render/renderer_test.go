// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
)

// A Renderer lends the memory of one fleet to the next: nothing of the one may show in the other, large after small, small
// after large, or the same again.
func TestRendererKeepsNothing(t *testing.T) {
	var r render.Renderer
	names := goldenCases(t)
	for i := range 2 * len(names) {
		f := goldenFleet(t, names[i%len(names)])
		got, err := r.Render(f)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(string(mustRender(t, f).AppendYAML(nil)), string(got.AppendYAML(nil))), names[i%len(names)])
	}
}
