// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"
)

// The verbs here break what all tests of the package share. Use them in tests
// that are not parallel.

// StopScheduler stops kube-scheduler, as a crash does. The returned function
// starts it again; the end of the test does too.
func (c *Cluster) StopScheduler(tb testing.TB) (start func()) {
	tb.Helper()
	return c.outage(tb, "kube-scheduler")
}

// StopControllers stops kube-controller-manager likewise.
func (c *Cluster) StopControllers(tb testing.TB) (start func()) {
	tb.Helper()
	return c.outage(tb, "kube-controller-manager")
}

func (c *Cluster) outage(tb testing.TB, name string) (start func()) {
	tb.Helper()
	if err := c.halt(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	started := false
	start = func() {
		if started {
			return
		}
		started = true
		if _, err := c.run(name, controllerFlags[name]); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(start)
	return start
}

// RestartAPIServer ends kube-apiserver, as a crash does, and starts it again.
// It returns once the server is ready; every connection was cut.
func (c *Cluster) RestartAPIServer(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	if err := c.halt(ctx, "kube-apiserver"); err != nil {
		tb.Fatal(err)
	}
	if err := c.runAPIServer(ctx); err != nil {
		tb.Fatal(err)
	}
}
