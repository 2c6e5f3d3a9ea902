// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/healer/rules"
)

const operations = "operations.md"

// Whatever the healer says has an entry in docs/operations.md, and whatever has an entry is said.
func TestOperationsNamesEverything(t *testing.T) {
	page, flags := read(t, operations), flagNames(t, "fleetwright-healer")
	for what, words := range map[string][]string{
		"phase":            typedConstants(t, "../api/v1alpha1/status_types.go", "Phase"),
		"state":            typedConstants(t, "../api/v1alpha1/status_types.go", "MemberState"),
		"disk":             typedConstants(t, "../api/v1alpha1/status_types.go", "DiskState"),
		"condition":        constants(t, "../api/v1alpha1/status_types.go", "Condition"),
		"event":            constants(t, "../healer/rules/action.go", "Event"),
		"reason of routes": constants(t, "../healer/rules/route.go", "route"),
		"rule":             ruleNames(),
		"metric":           metricNames(),
		"flag":             flags,
	} {
		require.Greater(t, len(words), 3, "%ss were found in the code", what)
		for _, word := range words {
			require.Contains(t, page, "`"+word+"`", "the %s %s is not explained", what, word)
		}
	}

	section := page[strings.Index(page, "\n## Reasons\n"):strings.Index(page, "\n## Events\n")]
	var headings []string
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(section, -1) {
		headings = append(headings, m[1])
	}
	require.ElementsMatch(t, typedConstants(t, "../api/v1alpha1/status_types.go", "Reason"), headings)

	// What it quotes of the healer's own words is in the code.
	source := read(t, "../healer/rules/rule_replace.go") + read(t, "../healer/rules/rule_report.go") + read(t, "../healer/rules/rule_claim.go") +
		read(t, "../healer/rules/rule_brake.go")
	_, table, _ := strings.Cut(section, "\n### ReplacementPending\n")
	table, _, _ = strings.Cut(table, "\n### ")
	quotes := regexp.MustCompile(`(?m)^\| ([a-z][^|]*) \| `).FindAllStringSubmatch(table, -1)
	require.Greater(t, len(quotes), 3)
	for _, m := range quotes[1:] { // below the heading
		for _, words := range regexp.MustCompile(`[…;]`).Split(m[1], -1) {
			require.True(t, strings.Contains(source, strings.TrimSpace(words)), "the healer does not say %q", m[1])
		}
	}

	for _, metric := range regexp.MustCompile(`fleetwright_[a-z_]+`).FindAllString(page, -1) {
		metric = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, "")
		require.Contains(t, metricNames(), metric)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)`").FindAllStringSubmatch(page, -1) {
		require.Contains(t, flags, m[1])
	}
}

// Every alert of the chart is in the table of alerts, in the row that leads to where the alert itself does.
func TestOperationsNamesAlerts(t *testing.T) {
	_, table, found := strings.Cut(read(t, operations), "\n| alert | go to |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]string{} // where the row leads
	for row := range strings.Lines(table) {
		alerts, leads, _ := strings.Cut(strings.Trim(row, "| \n"), " | ")
		link := regexp.MustCompile(`\]\((.*?#[a-z-]+)\)`).FindStringSubmatch(leads)
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(alerts, -1) {
			require.Len(t, link, 2, row)
			listed[m[1]] = "RUNBOOKS/docs/" + link[1]
			if strings.HasPrefix(link[1], "#") {
				listed[m[1]] = "RUNBOOKS/docs/" + operations + link[1]
			}
		}
	}
	installed := map[string]string{}
	for _, part := range []string{"healer", "webhook"} {
		var file struct {
			Rules []struct {
				Alert       string
				Annotations map[string]string
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(read(t, "../charts/fleetwright/files/alerts-"+part+".yaml")), &file))
		for _, rule := range file.Rules {
			installed[rule.Alert] = rule.Annotations["runbook_url"]
		}
	}
	require.Greater(t, len(installed), 3)
	require.Equal(t, installed, listed)
}

// constantsOf returns the values of string constants that a name and type are wanted of.
func constantsOf(t *testing.T, file string, want func(name, kind string) bool) []string {
	t.Helper()
	var out []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		kind := ""
		if id, ok := spec.Type.(*ast.Ident); ok {
			kind = id.Name
		}
		if value, ok := literal(spec.Values[0]); ok && want(spec.Names[0].Name, kind) {
			out = append(out, value)
		}
		return true
	})
	return out
}

func constants(t *testing.T, file, prefix string) []string {
	t.Helper()
	return constantsOf(t, file, func(name, _ string) bool { return strings.HasPrefix(name, prefix) })
}

func typedConstants(t *testing.T, file, kind string) []string {
	t.Helper()
	return constantsOf(t, file, func(_, k string) bool { return k == kind })
}

func ruleNames() []string {
	var out []string
	for _, rule := range rules.Rules() {
		out = append(out, rule.Name)
	}
	return out
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(lit.Value)
	return value, err == nil
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	return f
}

// A collectors takes metrics to look at what they are named.
type collectors struct{ list []prometheus.Collector }

func (c *collectors) Register(m prometheus.Collector) error         { c.list = append(c.list, m); return nil }
func (c *collectors) MustRegister(m ...prometheus.Collector)        { c.list = append(c.list, m...) }
func (c *collectors) Unregister(prometheus.Collector) (wasOne bool) { return false }

var descName = regexp.MustCompile(`fqName: "([^"]+)"`)

func metricNames() []string {
	var registry collectors
	healer.NewMetrics(&registry, "v0")
	descs := make(chan *prometheus.Desc, 2*len(registry.list))
	for _, m := range registry.list {
		m.Describe(descs)
	}
	close(descs)
	var out []string
	for desc := range descs {
		out = append(out, descName.FindStringSubmatch(desc.String())[1])
	}
	return out
}

// Every flag of the webhook is in docs/guards.md.
func TestGuardsNamesFlags(t *testing.T) {
	page, flags := read(t, "guards.md"), flagNames(t, "fleetwright-webhook")
	require.Greater(t, len(flags), 3)
	for _, flag := range flags {
		if flag != "--help" && flag != "--version" {
			require.Contains(t, page, "`"+flag, "the flag %s is not explained", flag)
		}
	}
}

// flagNames asks the program.
func flagNames(t *testing.T, program string) []string {
	t.Helper()
	help := sh(t, nil, "cd .. && go run ./cmd/"+program+" --help")
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
		out = append(out, m[1])
	}
	return out
}

// The status that the page shows is the one that the healer writes for a member that crashes.
func TestOperationsStatus(t *testing.T) {
	now := time.Date(2026, 3, 4, 2, 43, 0, 0, time.UTC)
	since := time.Date(2026, 3, 4, 2, 41, 7, 0, time.UTC)
	const identity = "6f3c1a52-7d0e-5b57-9d5f-0a1b2c3d4e5f"
	s := &rules.Snapshot{
		Fleet: rules.Fleet{
			Kind: v1alpha1.KindPersistentFleet, Namespace: "fleets", Name: "my-fleet", UID: "1", Generation: 7, Persistent: true,
			WorkloadKind: "StatefulSet", Identity: identity, SpecDigest: "x", Finalizer: true,
		},
		Target:      3,
		Reservation: &rules.Reservation{Name: "s3-8f2a", Identity: identity},
		Workload: &rules.Workload{
			Identity: identity, SpecDigest: "x", Observed: true, Replicas: 3, Existing: 3, Ready: 2, Updated: 3,
			CurrentRevision: "1", NextRevision: "1",
		},
	}
	for i, zone := range []string{"a", "b", "c"} {
		name := "my-fleet-" + strconv.Itoa(i)
		s.Members = append(s.Members, rules.Member{
			Ordinal: i, Name: name, Claim: &rules.Claim{Identity: identity, Bound: true, Created: now.AddDate(0, -1, 0)},
			Pod: &rules.Pod{
				Ours: true, Controlled: true, Ready: true, Node: "node-" + zone, Zone: "us-east-1" + zone,
				Created: now.AddDate(0, 0, -1), Transition: now.AddDate(0, 0, -1),
			},
		})
	}
	down := s.Members[1].Pod
	down.Ready, down.Failed, down.Transition = false, true, since
	down.Trouble = "container celld: CrashLoopBackOff: back-off 5m0s restarting failed container"

	policy := rules.Policy{ReplacementDelay: rules.DefaultReplacementDelay}
	d := rules.Decide(s, policy, now)
	status := rules.StatusOf(s, &d, &v1alpha1.FleetStatus{}, since)
	text, err := yaml.Marshal(map[string]any{"status": status})
	require.NoError(t, err)

	_, block, ok := strings.Cut(read(t, operations), "```yaml\nstatus:\n")
	require.True(t, ok, "the page shows a status")
	block, _, _ = strings.Cut(block, "```")
	require.True(t, matches("status:\n"+block, string(text)), "the status is\n%s", text)
}
