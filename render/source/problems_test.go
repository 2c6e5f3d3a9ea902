// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render/source"
)

var update = flag.Bool("update", false, "rewrite what tests want")

// TestProblems reads the cases of testdata/problems/*.txtar, and compares every problem with its place.
//
// A case is a section NAME.yaml or NAME.json, the file that is read; NAME.edit, lines that take the place of the line of
// testdata/fleet.yaml with the same key, or go to its end; or either with .quoted, whose lines are Go strings without the
// quotes around them. NAME.want is what comes of it.
func TestProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	fleet, err := os.ReadFile("testdata/fleet.yaml")
	require.NoError(t, err)
	for i := range files {
		files[i], err = filepath.Abs(files[i])
		require.NoError(t, err)
	}
	t.Chdir(t.TempDir())
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			for i := 0; i+1 < len(archive.Files); i += 2 {
				in, want := archive.Files[i], &archive.Files[i+1]
				name, how := caseName(t, in.Name)
				require.Equal(t, name+".want", want.Name, "the section after %s", in.Name)
				t.Run(name, func(t *testing.T) {
					got := outcome(t, how, input(t, how, in.Data, fleet))
					if *update {
						want.Data = []byte(got)
					}
					require.Equal(t, string(want.Data), got)
				})
			}
			require.Zero(t, len(archive.Files)%2, "a case lacks its .want")
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
			}
		})
	}
}

// caseName takes the name of a section apart: what the case is called, and how its text is to be read.
func caseName(t *testing.T, section string) (name, how string) {
	t.Helper()
	for _, how := range []string{"edit.quoted", "yaml.quoted", "json.quoted", "edit", "yaml", "json"} {
		if name, ok := strings.CutSuffix(section, "."+how); ok {
			return name, how
		}
	}
	require.Fail(t, "unknown section", section)
	return "", ""
}

// input makes the file that a case reads.
func input(t *testing.T, how string, text, fleet []byte) string {
	t.Helper()
	lines := strings.SplitAfter(string(text), "\n")
	if strings.HasSuffix(how, "quoted") {
		for i, line := range lines {
			line, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
			unquoted, err := strconv.Unquote(`"` + line + `"`)
			require.NoError(t, err, "line %d", i+1)
			lines[i] = unquoted + end
		}
	}
	if !strings.HasPrefix(how, "edit") {
		return strings.Join(lines, "")
	}
	key, _, _ := strings.Cut(lines[0], ":")
	out := strings.SplitAfter(string(fleet), "\n")
	for i, line := range out {
		if strings.HasPrefix(line, key+":") {
			out[i] = strings.Join(lines, "")
			return strings.Join(out, "")
		}
	}
	return string(fleet) + strings.Join(lines, "")
}

// outcome reads a file and describes what comes of it, a line for each thing.
func outcome(t *testing.T, how, text string) string {
	t.Helper()
	file := "fleet.yaml"
	if strings.HasPrefix(how, "json") {
		file = "fleet.json"
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	defer func() { require.NoError(t, os.Remove(file)) }()
	set, err := source.Read([]string{file}, source.Options{})
	var b strings.Builder
	if err != nil {
		var problems source.Problems
		require.ErrorAs(t, err, &problems)
		return problems.Error() + "\n"
	}
	for i := range set.Documents {
		fmt.Fprintf(&b, "ok: %s\n", set.Documents[i].ID)
	}
	for _, w := range set.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	if b.Len() == 0 {
		return "ok: nothing\n"
	}
	return b.String()
}
