// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/stretchr/testify/require"
)

// What follows does with Prometheus' own parser, engine and templates what
// `promtool test rules` does. That is a main package, and its storage and rule
// manager need 400 packages more than the engine, those of three clouds among
// them.

var promQL = parser.NewParser(parser.Options{})

// interval is how often rules are evaluated, and series have values.
const interval = time.Minute

// prometheus holds series, from time zero on.
type prometheus struct {
	engine *promql.Engine
	series []storage.Series
}

// point is a value of a series.
type point struct {
	chunks.Sample // nil: what only histograms have
	at            int64
	value         float64
}

func (p point) T() int64               { return p.at }
func (point) ST() int64                { return 0 }
func (p point) F() float64             { return p.value }
func (point) Type() chunkenc.ValueType { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample    { return p }

// newPrometheus takes series with values as promtool writes them: 1+1x3 is 1 2 3 4, _ is no value.
func newPrometheus(t *testing.T, series map[string]string) *prometheus {
	t.Helper()
	p := &prometheus{engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1 << 20, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: promQL,
	})}
	t.Cleanup(func() { require.NoError(t, p.engine.Close()) })
	for _, name := range slices.Sorted(maps.Keys(series)) {
		lbls, values, err := promQL.ParseSeriesDesc(name + " " + series[name])
		require.NoError(t, err, name)
		var points []chunks.Sample
		for i, value := range values {
			if !value.Omitted {
				points = append(points, point{at: int64(i) * interval.Milliseconds(), value: value.Value})
			}
		}
		p.series = append(p.series, storage.NewListSeries(lbls, points))
	}
	return p
}

// Querier implements storage.Queryable.
func (p *prometheus) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &seriesSet{}
		for _, series := range p.series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Labels().Get(m.Name)) }) {
				found.left = append(found.left, series)
			}
		}
		return found
	}}, nil
}

type seriesSet struct {
	at   storage.Series
	left []storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.at, s.left = s.left[0], s.left[1:]
	return true
}
func (s *seriesSet) At() storage.Series              { return s.at }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

// firing evaluates a rule at each interval until a moment, and returns the
// summaries of the alerts that fire then.
func (p *prometheus) firing(t *testing.T, rule monitoringv1.Rule, until time.Duration) []string {
	t.Helper()
	hold := time.Duration(0)
	if rule.For != nil {
		parsed, err := model.ParseDuration(string(*rule.For))
		require.NoError(t, err)
		hold = time.Duration(parsed)
	}
	active := map[string]time.Duration{} // since
	var summaries []string
	for now := time.Duration(0); now <= until; now += interval {
		before := active
		active, summaries = map[string]time.Duration{}, nil
		for _, sample := range p.evaluate(t, rule.Expr.String(), now) {
			key := sample.Metric.String()
			active[key] = now
			if since, ok := before[key]; ok {
				active[key] = since
			}
			if now-active[key] >= hold {
				summaries = append(summaries, expand(t, rule.Annotations["summary"], sample))
			}
		}
	}
	slices.Sort(summaries)
	return summaries
}

func (p *prometheus) evaluate(t *testing.T, expression string, now time.Duration) promql.Vector {
	t.Helper()
	query, err := p.engine.NewInstantQuery(t.Context(), p, nil, expression, time.Unix(0, 0).Add(now))
	require.NoError(t, err)
	defer query.Close()
	result := query.Exec(t.Context())
	require.NoError(t, result.Err)
	require.Empty(t, result.Warnings)
	vector, err := result.Vector()
	require.NoError(t, err)
	return slices.Clone(vector)
}

// expand fills in an alert's text.
func expand(t *testing.T, text string, sample promql.Sample) string {
	t.Helper()
	none := func(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }
	said, err := template.NewTemplateExpander(t.Context(), "{{$labels := .Labels}}{{$value := .Value}}"+text, "summary",
		template.AlertTemplateData(sample.Metric.Map(), nil, "", sample), 0, none, nil, nil).Expand()
	require.NoError(t, err)
	require.NotContains(t, said, "<no value>")
	return said
}

// metricsOf parses an expression and returns the metrics that it selects.
func metricsOf(t *testing.T, expression string) []string {
	t.Helper()
	// Grafana fills these in.
	expression = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$fleet", ".*").Replace(expression)
	parsed, err := promQL.ParseExpr(expression)
	require.NoError(t, err, expression)
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			require.NotEmpty(t, selector.Name, expression)
			names = append(names, selector.Name)
		}
		return nil
	})
	return names
}
