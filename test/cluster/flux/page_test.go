// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"path/filepath"
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
	text string
	bin  string // where kubectl is

	mu  sync.Mutex
	ran map[string]bool // by line
}

func openPage(t *testing.T, c *cluster.Cluster) *page {
	t.Helper()
	p := &page{bin: t.TempDir(), ran: map[string]bool{}}
	content, err := os.ReadFile(filepath.Join(root, "docs", "flux.md"))
	require.NoError(t, err)
	for i, part := range strings.Split(string(content), "```") {
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

func (p *page) requireAllRun(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	for line := range strings.Lines(p.text) {
		require.True(t, p.ran[strings.TrimSuffix(line, "\n")], "nothing runs this line of the page: %s", line)
	}
}
