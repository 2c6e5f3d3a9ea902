// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const monitoring = `
metrics:
  serviceMonitor: {enabled: true}
  prometheusRule: {enabled: true, runbooks: "https://runbooks.test"}
  dashboard: {enabled: true}
`

var metricName = regexp.MustCompile(`\b(?:fleetwright|leader_election)_[a-z_]+`)

// documented returns the metrics that the pages about the programs list.
func documented(t *testing.T) []string {
	t.Helper()
	names := metricName.FindAllString(string(read(t, "docs/operations.md"))+string(read(t, "docs/guards.md")), -1)
	require.Greater(t, len(names), 10)
	return names
}

// requireKnown fails for what is no PromQL, and for metrics that no program has.
func requireKnown(t *testing.T, known []string, expression string) {
	t.Helper()
	names := metricsOf(t, expression)
	require.NotEmpty(t, names, expression)
	for _, name := range names {
		histogram := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		require.True(t, slices.Contains(known, name) || slices.Contains(known, histogram), "no program has a metric %s", name)
	}
}

func TestAlerts(t *testing.T) {
	known := documented(t)
	rule := find[*monitoringv1.PrometheusRule](t, objects(t, "x", monitoring), "fleetwright")
	require.Len(t, rule.Spec.Groups, 2)
	anchor := regexp.MustCompile(`^https://runbooks\.test/(docs/[a-z]+\.md)#(.+)$`)
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			requireKnown(t, known, r.Expr.String())
			require.Contains(t, []string{"critical", "warning"}, r.Labels["severity"], r.Alert)
			require.NotEmpty(t, r.Annotations["summary"], r.Alert)
			require.NotEmpty(t, r.Annotations["description"], r.Alert)
			link := anchor.FindStringSubmatch(r.Annotations["runbook_url"])
			require.Len(t, link, 3, r.Annotations["runbook_url"])
			heading := "(?im)^#+ " + strings.ReplaceAll(link[2], "-", " ") + "$"
			require.Regexp(t, heading, string(read(t, link[1])), "%s: no such heading", r.Alert)
		}
	}
}

func TestDashboard(t *testing.T) {
	known := documented(t)
	board := find[*corev1.ConfigMap](t, objects(t, "x", monitoring), "fleetwright-dashboard")
	require.Equal(t, "disabled", board.Annotations["kustomize.toolkit.fluxcd.io/substitute"])
	var parsed struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(board.Data["fleetwright.json"]), &parsed))
	require.Greater(t, len(parsed.Panels), 8)
	taken := map[[2]int]string{}
	for i, panel := range parsed.Panels {
		require.Equal(t, i+1, panel.ID)
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			requireKnown(t, known, target.Expr)
		}
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			require.Less(t, x, 24, panel.Title)
			require.Empty(t, taken[[2]int{x, panel.GridPos.Y}], "%s lies on another panel", panel.Title)
			taken[[2]int{x, panel.GridPos.Y}] = panel.Title
		}
	}
}

// Without this the namespace of a fleet's series would be called exported_namespace, and no alert would find it.
func TestScrapeKeepsTheNamespaceOfFleets(t *testing.T) {
	monitor := find[*monitoringv1.ServiceMonitor](t, objects(t, "x", monitoring), "fleetwright")
	require.True(t, monitor.Spec.Endpoints[0].HonorLabels)
	require.Equal(t, "metrics", monitor.Spec.Endpoints[0].Port)
	require.Equal(t, []string{"fleetwright-healer", "fleetwright-webhook"}, monitor.Spec.Selector.MatchExpressions[0].Values)
}
