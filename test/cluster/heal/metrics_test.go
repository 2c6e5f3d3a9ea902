// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// metric returns the lines of the healer's metrics that begin with a name.
func (s *subject) metric(name string) string {
	s.t.Helper()
	families, err := s.registry.Gather()
	require.NoError(s.t, err)
	var text bytes.Buffer
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&text, family)
		require.NoError(s.t, err)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// decode reads the body of a request, as JSON or YAML.
func decode(t testing.TB, body []byte, into any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(body, into))
}
