// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetwright/fleetwright/internal/golden"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fleetwright-healer": main})
}

// TestScripts runs testdata/script. Beside the usual commands a script has:
//
//	healer CODE ARG...  run the program, which must exit with CODE, and print nothing to stdout if that is not 0
//
// No script has an API server; test/cluster/heal runs the healer on one.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: golden.Update(),
		Setup: func(env *testscript.Env) error {
			for _, key := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
				env.Setenv(key, "")
			}
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"healer": runHealer},
	})
}

func runHealer(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: healer CODE ARG...")
	}
	code := 0
	var exit *exec.ExitError
	switch err := ts.Exec("fleetwright-healer", args[1:]...); {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	if code != 0 && ts.ReadFile("stdout") != "" {
		ts.Fatalf("a failed run printed to stdout")
	}
}
