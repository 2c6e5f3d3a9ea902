// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	helm "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	chart "github.com/fleetwright/fleetwright/test/chart"
)

func TestRefused(t *testing.T) {
	tests := map[string]struct{ values, says string }{
		"unknown":            {`helaer: {replicas: 3}`, "helaer"},
		"unknown below":      {`healer: {replica: 3}`, "replica"},
		"unknown deep":       {`metrics: {dashboard: {enable: true}}`, "enable"},
		"number as text":     {`healer: {replicas: "3"}`, "/healer/replicas"},
		"no webhook":         {`webhook: {replicas: 0}`, "/webhook/replicas"},
		"certificates":       {`webhook: {certificates: helm}`, "/webhook/certificates"},
		"issuer":             {`webhook: {certManager: {issuerRef: {kind: Issuer}}}`, "/webhook/certManager/issuerRef"},
		"issuer kind":        {`webhook: {certManager: {issuerRef: {name: a, kind: Secret}}}`, "/webhook/certManager/issuerRef/kind"},
		"duration":           {`healer: {memberReplacementDelay: 10 minutes}`, "/healer/memberReplacementDelay"},
		"duration as number": {`healer: {memberReplacementDelay: 10}`, "/healer/memberReplacementDelay"},
		"delay of seconds":   {`healer: {memberReplacementDelay: 59s}`, "/healer/memberReplacementDelay"},
		"delay of ms":        {`healer: {memberReplacementDelay: 90000ms}`, "/healer/memberReplacementDelay"},
		"no delay":           {`healer: {memberReplacementDelay: 0m}`, "/healer/memberReplacementDelay"},
		"half a minute":      {`healer: {memberReplacementDelay: 0.5m}`, "/healer/memberReplacementDelay"},
		"endless delay":      {`healer: {memberReplacementDelay: 9999999h}`, "/healer/memberReplacementDelay"},
		"concurrency":        {`healer: {concurrency: 0}`, "/healer/concurrency"},
		"namespace":          {`fleetNamespaces: ["*"]`, "/fleetNamespaces/0"},
		"namespaces":         {`fleetNamespaces: fleets`, "/fleetNamespaces"},
		"same namespace":     {`fleetNamespaces: [a, a]`, "/fleetNamespaces"},
		"digest":             {`image: {digest: "sha256:1"}`, "/image/digest"},
		"digest in name":     {`image: {repository: "a@sha256:1"}`, "/image/repository"},
		"digest after port":  {`image: {repository: "registry.test:5000/a@sha256:1"}`, "/image/repository"},
		"tag in name":        {`image: {repository: "registry.test/a:v1"}`, "/image/repository"},
		"tag after port":     {`image: {repository: "registry.test:5000/a:v1"}`, "/image/repository"},
		"tag alone":          {`image: {repository: "a:1"}`, "/image/repository"},
		"two slashes":        {`image: {repository: "registry.test//a"}`, "/image/repository"},
		"tag":                {`image: {tag: "a b"}`, "/image/tag"},
		"pull policy":        {`image: {pullPolicy: Sometimes}`, "/image/pullPolicy"},
		"pull secret":        {`imagePullSecrets: [registry]`, "/imagePullSecrets/0"},
		"resources":          {`healer: {resources: {request: {cpu: 1}}}`, "/healer/resources"},
		"toleration":         {`healer: {tolerations: [{key: a, operator: Is}]}`, "/healer/tolerations/0/operator"},
		"selector":           {`webhook: {nodeSelector: {a: true}}`, "/webhook/nodeSelector/a"},
		"cidr":               {`networkPolicy: {apiServerCIDRs: [10.0.0.1]}`, "/networkPolicy/apiServerCIDRs/0"},
		"port":               {`networkPolicy: {apiServerPorts: [66000]}`, "/networkPolicy/apiServerPorts/0"},
		"no port":            {`networkPolicy: {apiServerPorts: []}`, "/networkPolicy/apiServerPorts"},
		"peer":               {`networkPolicy: {metricsFrom: [{}]}`, "/networkPolicy/metricsFrom/0"},
		"peer of all sorts":  {`networkPolicy: {metricsFrom: [{ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}]}`, "/networkPolicy/metricsFrom/0"},
		"reviewer":           {`networkPolicy: {reviewsFrom: [{ipBlock: {cidr: 10.0.0.0/8}, namespaceSelector: {}}]}`, "/networkPolicy/reviewsFrom/0"},
		"runbooks":           {`metrics: {prometheusRule: {runbooks: wiki}}`, "/metrics/prometheusRule/runbooks"},
	}
	c, err := chart.Load(root)
	require.NoError(t, err)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := chart.Render(c, "x", values(t, tc.values))
			require.ErrorContains(t, err, tc.says)
			require.ErrorContains(t, err, "don't meet the specifications of the schema")
		})
	}
}

// The healer starts with every delay that the schema takes, and so do Pods with every name of the image.
func TestAccepted(t *testing.T) {
	c, err := chart.Load(root)
	require.NoError(t, err)
	for _, delay := range []string{"1m", "60s", "100s", "1.5m", "10m", "1m30s", "1h", "1.5h", "1h30m", "2h0m0s", "1h0s", "99999.5h99999m99999s"} {
		_, err := chart.Render(c, "x", values(t, "healer: {memberReplacementDelay: "+delay+"}"))
		require.NoError(t, err)
		parsed, err := time.ParseDuration(delay)
		require.NoError(t, err)
		require.GreaterOrEqual(t, parsed, time.Minute, "the healer ends at once")
	}
	for _, repository := range []string{"a", "fleetwright/a", "registry.test/a", "localhost:5000/a", "registry.test:5000/a/b_c/d-e.f"} {
		_, err := chart.Render(c, "x", values(t, `image: {repository: "`+repository+`"}`))
		require.NoError(t, err)
	}
}

// A chart that has this one as a dependency hands values of its own on to it.
func TestParentChart(t *testing.T) {
	c, err := chart.Load(root)
	require.NoError(t, err)
	parent := &helm.Chart{Metadata: &helm.Metadata{APIVersion: helm.APIVersionV2, Name: "parent", Version: "1.0.0",
		Dependencies: []*helm.Dependency{{Name: "fleetwright", Version: c.Metadata.Version, Condition: "fleetwright.enabled"}}}}
	parent.AddDependency(c)
	out, err := chart.Render(parent, "x", values(t, "{global: {anything: of-a-parent}, fleetwright: {enabled: true}}"))
	require.NoError(t, err)
	require.Contains(t, out, "name: fleetwright-healer")
	_, err = chart.Render(parent, "x", values(t, "fleetwright: {enabled: perhaps}"))
	require.ErrorContains(t, err, "/enabled")
}

// Every group of the schema is closed and holds exactly the keys of values.yaml, but for those that are maps by nature.
func TestSchemaIsThatOfValues(t *testing.T) {
	var schema, tree map[string]any
	require.NoError(t, json.Unmarshal(read(t, "charts/fleetwright/values.schema.json"), &schema))
	require.NoError(t, yaml.UnmarshalStrict(read(t, "charts/fleetwright/values.yaml"), &tree))
	for _, parents := range []string{"global", "enabled"} { // a chart's that has this one as a dependency
		delete(schema["properties"].(map[string]any), parents)
	}
	compare(t, "values", schema, tree)
	// A user's own values may be any subset, so nothing is required at the top.
	require.NotContains(t, schema, "required")
}

func compare(t *testing.T, path string, schema, tree map[string]any) {
	t.Helper()
	require.Equal(t, false, schema["additionalProperties"], path)
	properties := schema["properties"].(map[string]any)
	require.Equal(t, slices.Sorted(maps.Keys(tree)), slices.Sorted(maps.Keys(properties)), path)
	for key, value := range tree {
		below := properties[key].(map[string]any)
		group, ok := value.(map[string]any)
		if _, closed := below["properties"]; ok && closed && len(group) > 0 {
			compare(t, path+"."+key, below, group)
		}
	}
}

func TestEveryValueIsDescribed(t *testing.T) {
	text := read(t, "charts/fleetwright/values.yaml")
	described, err := chart.Values(text)
	require.NoError(t, err)
	var paths []string
	for _, v := range described {
		paths = append(paths, v.Path)
		require.NotEmpty(t, v.About, v.Path)
	}
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(text, &tree))
	leaves(tree, "", func(path string) { require.Contains(t, paths, path) }, paths)
}

// leaves visits each value that is no group.
func leaves(tree map[string]any, prefix string, visit func(string), described []string) {
	for key, value := range tree {
		path := prefix + key
		group, ok := value.(map[string]any)
		if ok && !slices.Contains(described, path) {
			leaves(group, path+".", visit, described)
			continue
		}
		visit(path)
	}
}
