// SPDX-License-Identifier: Apache-2.0

// Package pages follows a page of the documentation as its reader would: every
// command, from top to bottom, with nothing typed that the page does not say.
package pages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// limit bounds one block.
const limit = 3 * time.Minute

// Reader is somebody with a terminal: at the root of a clone of the repository,
// an admin of a cluster, with kubectl and fleetwright at hand.
type Reader struct {
	Dir string   // where commands run
	Env []string // what they see

	bin   string
	state string // what a block leaves to the next: variables and the directory
}

// NewReader makes a reader.
func NewReader(t *testing.T, c *cluster.Cluster) *Reader {
	t.Helper()
	r := &Reader{Dir: t.TempDir(), bin: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		`git ls-files -co --exclude-standard | while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done | tar -cf - -T - | tar -xf - -C "$0"`, r.Dir)
	cmd.Dir = repository(t)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	r.Give(t, "fleetwright", "exec "+program.Build(t, c, "fleetwright"))
	r.Give(t, "kubectl", "exec "+c.Binary()+" kubectl")
	r.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "PATH="+r.bin+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
	return r
}

// Give puts a program on the reader's path: a line of shell that runs it, to
// which the arguments are added.
func (r *Reader) Give(t *testing.T, name, command string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n"+command+" \"$@\"\n"), 0o755))
}

// A block is one of a page: commands, and what they print if the page says so.
type block struct {
	line     int
	script   string
	want     string
	compared bool
}

// Follow runs the blocks marked sh. A block marked text that follows one is what
// that prints; in it, three dots stand for any text on a line, and on a line of
// their own for any lines.
func (r *Reader) Follow(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), page))
	require.NoError(t, err)
	blocks := blocksOf(string(text))
	require.NotEmpty(t, blocks, "%s shows no command", page)
	for _, b := range blocks {
		started := time.Now()
		said := r.run(t, page, b)
		t.Logf("%s:%d: %s\n%s", page, b.line, time.Since(started).Round(100*time.Millisecond), said)
		if b.compared {
			require.Regexp(t, pattern(b.want), said, "%s:%d prints something else", page, b.line)
		}
	}
}

// Commands returns the lines of the blocks marked sh.
func Commands(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), page))
	require.NoError(t, err)
	var out []string
	for _, b := range blocksOf(string(text)) {
		out = append(out, strings.Split(strings.TrimSpace(b.script), "\n")...)
	}
	return out
}

func (r *Reader) run(t *testing.T, page string, b block) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	const around = "if [ -f '%[1]s' ]; then . '%[1]s'; fi\ntrap '{ export -p; printf \"cd %%q\\n\" \"$PWD\"; } >%[1]s' EXIT\n"
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", fmt.Sprintf(around, r.state)+b.script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.Dir, r.Env, time.Second
	said, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "%s:%d did not end within %s:\n%s", page, b.line, limit, said)
	if failure.MatchString(b.want) {
		require.Error(t, err, "%s:%d does not fail:\n%s\n%s", page, b.line, b.script, said)
	} else {
		require.NoError(t, err, "%s:%d:\n%s\n%s", page, b.line, b.script, said)
	}
	return string(said)
}

// failure is how a page shows that a command fails.
var failure = regexp.MustCompile(`(?m)^(Error|error:|fleetwright:)`)

func blocksOf(page string) []block {
	var out []block
	info, text := "", ""
	n := 0
	for line := range strings.Lines(page) {
		n++
		marked, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !fence:
			text += line
		case info == "":
			info, text = marked+" ", ""
		case info == "sh ":
			out = append(out, block{line: n - strings.Count(text, "\n"), script: text})
			info = ""
		case info == "text " && len(out) > 0:
			out[len(out)-1].want, out[len(out)-1].compared = text, true
			info = ""
		default:
			info = ""
		}
	}
	return out
}

// pattern is what matches an output as a page shows it; blanks align columns.
func pattern(want string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString(`^(?s)`)
	for line := range strings.Lines(want) {
		if strings.TrimSpace(line) == "..." {
			out.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(word), `\.\.\.`, `[^\n]*`)
		}
		out.WriteString(` *` + strings.Join(words, ` +`) + ` *\n`)
	}
	return regexp.MustCompile(out.String() + `$`)
}

// repository is the root of it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "ARCHITECTURE.md"))
	return root
}
