// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// shell runs commands at the root of the repository, with kubectl, which is
// the control plane's own, and fleetwright at hand.
type shell struct {
	dir, bin string
	env      []string
}

func newShell(ctx context.Context, c *cluster.Cluster) (*shell, error) {
	_, file, _, _ := runtime.Caller(0)
	s := &shell{dir: filepath.Join(filepath.Dir(file), "..", "..", ".."), bin: filepath.Join(c.Dir(), "bin")}
	fleetwright, err := program.BuildIn(ctx, c.Dir(), "fleetwright")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.bin, 0o755); err != nil {
		return nil, err
	}
	for name, command := range map[string]string{"kubectl": c.Binary() + " kubectl", "fleetwright": fleetwright} {
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o755); err != nil {
			return nil, err
		}
	}
	s.env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(c.Dir(), "kubectl-cache"),
		"PATH="+s.bin+":"+os.Getenv("PATH"))
	return s, nil
}

// run shows commands, runs them and shows what they print.
func (d *demo) run(script string) {
	d.execute(script, false)
}

// refused is run for what must not succeed.
func (d *demo) refused(script string) {
	d.execute(script, true)
}

func (d *demo) execute(script string, refused bool) {
	for command := range strings.Lines(script) {
		d.screen.say(line{{"$ ", cyan}, {strings.TrimRight(command, "\n"), bold}})
	}
	cmd := exec.CommandContext(d.ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.shell.dir, d.shell.env, time.Second
	var said []byte
	var err error
	d.wait("the command ends", nil, func() error { said, err = cmd.CombinedOutput(); return nil })
	look := plain
	if refused {
		look = red
	}
	d.screen.say(shorten(string(said), look)...)
	var exit *exec.ExitError
	if refused && !errors.As(err, &exit) {
		d.check(fmt.Errorf("it should have been refused: %w", errors.Join(err, errors.New(script))))
	}
	if !refused && err != nil {
		d.check(fmt.Errorf("%s: %w", script, err))
	}
}

// maxOutput is how many lines of an output are shown.
const maxOutput = 8

// shorten makes lines of an output, without the middle of a long one.
func shorten(output string, look style) []line {
	var out []line
	for l := range strings.Lines(output) {
		out = append(out, text(look, strings.TrimRight(l, "\n")))
	}
	if left := len(out) - maxOutput; left > 0 {
		const head, tail = 2, 1
		middle := text(aside, fmt.Sprintf("… %d more lines", len(out)-head-tail))
		out = append(append(out[:head:head], middle), out[len(out)-tail:]...)
	}
	return out
}
