// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A spread that only lets a zone hold more keeps nobody off a node, so it is not suspected.
func TestSpreadThatOnlyOpensIsNotSuspected(t *testing.T) {
	spread := func(skew int, more map[string]any) map[string]any {
		c := map[string]any{"maxSkew": skew, "topologyKey": corev1.LabelTopologyZone, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 4}
		for key, value := range more {
			c[key] = value
		}
		return c
	}
	soft := spread(1, map[string]any{"whenUnsatisfiable": "ScheduleAnyway"})
	template := func(constraints ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"topologySpreadConstraints": constraints}}
	}
	one := template(spread(1, nil))
	for name, c := range map[string]struct {
		after any
		want  bool
	}{
		"more in a zone":               {template(spread(2, nil), soft), true},
		"fewer in a zone":              {template(spread(0, nil)), false},
		"more, over fewer zones":       {template(spread(2, map[string]any{"minDomains": 3})), false},
		"more, of another label":       {template(spread(2, map[string]any{"topologyKey": corev1.LabelHostname})), false},
		"a second that is insisted on": {template(spread(2, nil), spread(1, map[string]any{"topologyKey": corev1.LabelHostname})), false},
		"none that is insisted on":     {template(soft), false},
		"what is no template":          {"text", false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, opens(one, c.after)) })
	}
}
