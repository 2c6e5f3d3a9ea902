// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetwright/fleetwright/internal/golden"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fleetwright": main, "kubectl-fleetwright": main, "kubectl_complete-fleetwright": main})
}

// TestScripts runs testdata/script. Beside the usual commands a script has:
//
//	fw CODE ARG...       run fleetwright, which must exit with CODE, and leave nothing behind if that is not 0
//	edit OLD NEW FROM TO write file FROM to TO with OLD, which must be there, replaced by NEW; both are Go strings
//	lines N FILE         FILE, or stdout or stderr, must have N lines
//
// Every script starts with fleet.yaml, a valid fleet.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: golden.Update(),
		Setup: func(env *testscript.Env) error {
			text, err := os.ReadFile(filepath.Join("testdata", "fleet.yaml"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "fleet.yaml"), text, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fw": runFleetwright, "edit": editFile, "lines": countLines,
		},
	})
}

// runFleetwright checks what holds for every run, whatever the script looks at: a failed one prints no object and writes
// none, and no run leaves a temporary file.
func runFleetwright(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: fw CODE ARG...")
	}
	dir := ts.MkAbs(".")
	before := listing(ts, dir)
	code := 0
	var exit *exec.ExitError
	switch err := ts.Exec("fleetwright", args[1:]...); {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	after := listing(ts, dir)
	finds := slices.Contains(args, "--check") || strings.Contains(ts.ReadFile("stderr"), errRefused.Error()) // what it found is its output
	if code != 0 && !finds && ts.ReadFile("stdout") != "" {
		ts.Fatalf("a failed run printed to stdout")
	}
	if (code != 0 || slices.Contains(args, "--check")) && !slices.Equal(before, after) {
		ts.Fatalf("a failed run changed files: %q, were %q", after, before)
	}
	for _, file := range after {
		if strings.Contains(file, ".fleetwright-") {
			ts.Fatalf("%s was left behind", file)
		}
	}
}

// listing names every file below a directory, with what tells a changed one.
func listing(ts *testscript.TestScript, dir string) []string {
	var files []string
	ts.Check(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		line := path + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			line += " " + strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String()
		}
		files = append(files, line)
		return nil
	}))
	return files
}

func editFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: edit OLD NEW FROM TO")
	}
	unquote := func(s string) string {
		s, err := strconv.Unquote(`"` + s + `"`)
		ts.Check(err)
		return s
	}
	text, old := ts.ReadFile(args[2]), unquote(args[0])
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not hold %q", args[2], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.ReplaceAll(text, old, unquote(args[1]))), 0o600))
}

func countLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	if got := strings.Count(ts.ReadFile(args[1]), "\n"); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s has %d lines, want %s", args[1], got, args[0])
	}
}
