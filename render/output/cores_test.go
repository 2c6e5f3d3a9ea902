// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

// What is printed does not depend on how many cores read and render: not the stream, nor the files, the warnings and the
// problems, nor their order.
func TestCoresDoNotShow(t *testing.T) {
	var good, bad strings.Builder
	for i := range 300 {
		one := strings.ReplaceAll(strings.ReplaceAll(fleet, "my-fleet", fmt.Sprintf("fleet-%d", i)), "my-bucket", fmt.Sprintf("bucket-%d", i))
		if i%3 == 0 {
			one += "  env: [{name: CELLD_A, value: \"${A}\"}]\nstatus: {}\n"
		}
		if i%7 == 0 {
			one += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-" + fmt.Sprint(i) + "}\n"
		}
		good.WriteString("---\n" + one)
		bad.WriteString("---\n" + strings.NewReplacer("zones", "zoens", "fleet-29\n", "fleet-30\n").Replace(one))
	}
	results := func(cores int) (stream string, files *Files, warnings []string, problems error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		set := read(t, good.String())
		var out bytes.Buffer
		rendered, err := Stream(&out, set, render.Options{})
		require.NoError(t, err)
		files, again, err := NewFiles(set, render.Options{})
		require.NoError(t, err)
		require.Equal(t, rendered, again)
		for _, w := range append(set.Warnings, rendered...) {
			warnings = append(warnings, w.String())
		}
		_, problems = source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(bad.String())})
		require.Error(t, problems)
		return out.String(), files, warnings, problems
	}
	stream, files, warnings, problems := results(1)
	require.NotEmpty(t, warnings)
	for _, cores := range []int{2, 3, 8} {
		s, f, w, p := results(cores)
		require.True(t, stream == s, "the stream on %d cores", cores)
		require.Equal(t, files, f)
		require.Equal(t, warnings, w)
		require.Equal(t, problems.Error(), p.Error())
	}
}
