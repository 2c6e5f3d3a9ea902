// SPDX-License-Identifier: Apache-2.0

// Package docs_test runs every command that the documentation shows, and follows its links.
package docs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limit bounds one command.
const limit = 5 * time.Minute

var pages = []string{"README.md", "ARCHITECTURE.md", "docs/*.md", "examples/*.md", "examples/*/*.md"}

// In a block marked console, a line that starts with "$ " is a command and the lines below it are its output, errors
// included; "..." stands for any lines. A command fails if its output has a line that starts as an error does.
func TestCommands(t *testing.T) {
	t.Chdir("..")
	bin := t.TempDir()
	sh(t, nil, "go build -o '"+bin+"/fleetwright' ./cmd/fleetwright")
	tmp := t.TempDir() // the pages say $TMPDIR
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+tmp)
	ran := 0
	for _, page := range files(t) {
		t.Run(page, func(t *testing.T) {
			for _, c := range commandsOf(read(t, page)) {
				ran++
				said, err := try(t, env, c.command)
				require.Equal(t, failure.MatchString(c.want), err != nil, "%s: $ %s\n%v\n%s", page, c.command, err, said)
				got := strings.ReplaceAll(said, tmp, "$TMPDIR")
				require.True(t, matches(c.want, got), "%s: $ %s\nprinted:\n%s\nthe page says:\n%s", page, c.command, got, c.want)
			}
		})
	}
	require.Greater(t, ran, 5, "the pages hold commands")
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links to files and headings of the repository lead somewhere.
func TestLinks(t *testing.T) {
	t.Chdir("..")
	for _, page := range files(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			require.FileExistsf(t, orDirectory(path), "%s links to %s", page, m[1])
			if heading != "" {
				require.Containsf(t, headings(read(t, path)), heading, "%s links to %s", page, m[1])
			}
		}
	}
}

// orDirectory lets a link lead to a directory: the check is for a file in it.
func orDirectory(path string) string {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if err == nil && !e.IsDir() {
			return filepath.Join(path, e.Name())
		}
	}
	if err == nil && len(entries) > 0 {
		return orDirectory(filepath.Join(path, entries[0].Name()))
	}
	return path
}

var headingLine = regexp.MustCompile(`(?m)^#+ (.*)$`)

// headings returns the anchors of a page, as GitHub makes them.
func headings(text string) []string {
	var out []string
	for _, m := range headingLine.FindAllStringSubmatch(text, -1) {
		anchor := strings.ToLower(strings.TrimSpace(m[1]))
		anchor = regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(anchor, "")
		out = append(out, strings.ReplaceAll(anchor, " ", "-"))
	}
	return out
}

type command struct{ command, want string }

func commandsOf(page string) []command {
	var out []command
	inside := false
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			out = append(out, command{command: line[2:]})
		case inside && len(out) > 0:
			out[len(out)-1].want += line + "\n"
		}
	}
	return out
}

// matches compares output, where a line of three dots in want stands for any lines.
func matches(want, got string) bool {
	parts := strings.Split(regexp.QuoteMeta(want), `\.\.\.`+"\n")
	return regexp.MustCompile(`^(?s)` + strings.Join(parts, `(?:.*\n)?`) + `$`).MatchString(got)
}

// failure is how a page shows that a command fails.
var failure = regexp.MustCompile(`(?m)^(Error|error:|fleetwright:)`)

// sh runs what must succeed.
func sh(t *testing.T, env []string, script string) string {
	t.Helper()
	said, err := try(t, env, script)
	require.NoError(t, err, said)
	return said
}

func try(t *testing.T, env []string, script string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "%s did not end within %s:\n%s", script, limit, out)
	return string(out), err
}

func files(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range pages {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		out = append(out, found...)
	}
	require.NotEmpty(t, out)
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
