// SPDX-License-Identifier: Apache-2.0

// Package golden is for tests that keep what they expect in files, and write the files anew when they are run with -update.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with; read the diff before you commit it")

// Update tells whether files are to be written anew.
func Update() bool { return *update }

// Equal compares text with a file, and shows the lines that differ.
func Equal(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes the file", err)
	}
	if difference := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); difference != "" {
		t.Fatalf("%s differs; -update writes it anew, and the diff is for you to read:\n%s", file, difference)
	}
}
