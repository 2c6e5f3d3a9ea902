// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/binaries"
)

// page is docs/flux.md. The tests run what its blocks marked sh say, and show
// in the end that they ran everything.
type page struct {
	all  string
	text string // of the blocks
	bin  string // where kubectl is

	mu       sync.Mutex
	ran      map[string]bool // by line
	failures []string        // that Flux reported
}

func openPage(t *testing.T, c *cluster.Cluster) *page {
	t.Helper()
	p := &page{bin: t.TempDir(), ran: map[string]bool{}}
	content, err := os.ReadFile(filepath.Join(root, "docs", "flux.md"))
	require.NoError(t, err)
	p.all = string(content)
	for i, part := range strings.Split(p.all, "```") {
		if script, ok := strings.CutPrefix(part, "sh\n"); ok && i%2 == 1 {
			p.text += script
		}
	}
	binary, err := binaries.ControlPlane.Find()
	require.NoError(t, err)
	script := "#!/bin/sh\nexec " + binary + " kubectl --kubeconfig " + c.Kubeconfig() + " \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.bin, "kubectl"), []byte(script), 0o755))
	return p
}

// line is a line of the page, which runs now.
func (p *page) line(t *testing.T, line string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Contains(t, strings.Split(p.text, "\n"), line, "the page says something else")
	p.ran[line] = true
	return line
}

// run runs a line of the page where a team's names are the ones of the page.
func (tm *team) run(line string) (string, error) {
	tm.t.Helper()
	line = tm.page.line(tm.t, line)
	line = strings.ReplaceAll(line, "kustomization fleets", "kustomization "+tm.name)
	line = strings.ReplaceAll(line, "kustomization/fleets", "kustomization/"+tm.name)
	line = strings.ReplaceAll(line, "-n fleets", "-n "+tm.w.Namespace)
	return tm.shell(tm.t, tm.dir, line)
}

func (tm *team) mustRun(line string) string {
	tm.t.Helper()
	said, err := tm.run(line)
	require.NoError(tm.t, err, said)
	return said
}

// requireAllRun checks that nothing on the page is left that no test has seen.
func (p *page) requireAllRun(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(p.text) {
		require.True(t, p.ran[strings.TrimSuffix(line, "\n")], "nothing runs this line of the page: %s", line)
	}
	// The healer is too quick for a fleet without a status. TestHealthOfNoStatus has it.
	p.failures = append(p.failures, "status: 'Unknown': "+noStatus)
	for _, row := range message.FindAllStringSubmatch(p.all[strings.Index(p.all, "## When something is wrong"):], -1) {
		parts := strings.Split(row[1], " ... ")
		require.True(t, slices.ContainsFunc(p.failures, func(seen string) bool { return containsAll(seen, parts) }),
			"Flux said no such thing: %s", row[1])
	}
}

// message begins a row of the page's last table.
var message = regexp.MustCompile("(?m)^\\| `([a-z].* .*)` \\| ")

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// saw keeps what a Kustomization said.
func (p *page) saw(failure string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, failure)
}
