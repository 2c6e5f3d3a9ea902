// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"os"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// alertCase is a time in which an alert fires, or does not.
type alertCase struct {
	Alert   string
	Because string
	Series  map[string]string   // values by minute
	Fires   map[string][]string // summaries, by the time since the first value
}

// Every alert fires, and no sooner than it should; the summary is what whoever is on call reads.
func TestAlertsFireInTime(t *testing.T) {
	text, err := os.ReadFile("testdata/alerts.yaml")
	require.NoError(t, err)
	var cases []alertCase
	require.NoError(t, yaml.UnmarshalStrict(text, &cases))
	rules := alerts(t)

	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		t.Run(c.Alert+"/"+c.Because, func(t *testing.T) {
			require.Contains(t, rules, c.Alert)
			p := newPrometheus(t, c.Series)
			for at, want := range c.Fires {
				until, err := model.ParseDuration(at)
				require.NoError(t, err)
				require.ElementsMatch(t, want, p.firing(t, rules[c.Alert], time.Duration(until)), "after %s", at)
				fires[c.Alert] = fires[c.Alert] || len(want) > 0
				quiet[c.Alert] = quiet[c.Alert] || len(want) == 0
			}
		})
	}
	for name := range rules {
		require.True(t, fires[name], "no case in which %s fires", name)
		require.True(t, quiet[name], "no case in which %s does not fire yet", name)
	}
}

// alerts returns those of the chart by name.
func alerts(t *testing.T) map[string]monitoringv1.Rule {
	t.Helper()
	found := map[string]monitoringv1.Rule{}
	for _, group := range find[*monitoringv1.PrometheusRule](t, objects(t, "x", monitoring), "fleetwright").Spec.Groups {
		for _, rule := range group.Rules {
			found[rule.Alert] = rule
		}
	}
	return found
}
