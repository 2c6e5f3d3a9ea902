// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubectlTimeout bounds a call of kubectl. Calls take a second or two.
const kubectlTimeout = 2 * time.Minute

// MustKubectl runs a command that must succeed, and returns what it printed to
// stdout.
func (c *Cluster) MustKubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	stdout, stderr, err := c.Kubectl(tb, nil, args...)
	if err != nil {
		tb.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return stdout
}

// Kubectl runs kubectl as an admin, with an input, and returns what it printed
// to stdout and to stderr. The error is that of its exit code, which has a
// meaning of its own for some commands (diff).
func (c *Cluster) Kubectl(tb testing.TB, input []byte, args ...string) (stdout, stderr string, err error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), kubectlTimeout)
	defer cancel()
	flags := []string{"--kubeconfig", c.Kubeconfig(), "--cache-dir", filepath.Join(c.dir, "kubectl-cache")}
	cmd := exec.CommandContext(ctx, "kubectl", append(flags, args...)...)
	if c.binary != "" {
		cmd = exec.CommandContext(ctx, c.binary, append(append([]string{"kubectl"}, flags...), args...)...)
	}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("kubectl did not end within %s: %w", kubectlTimeout, err)
	}
	return out.String(), errs.String(), err
}
