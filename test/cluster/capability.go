// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Capability is what a control plane of this package offers, and an existing
// cluster does not.
type Capability string

// The capabilities, as the reasons that are printed for the tests that need
// them.
const (
	// Programs are stopped and restarted, or have flags of the test's choice.
	Programs Capability = "stops, restarts or configures the programs of the control plane"
	// Audit counts and shows what anybody asked of the API server.
	Audit Capability = "reads the API server's audit log"
	// Nodes are added, cordoned, silenced and removed, and their kubelets say
	// of a Pod what the test tells them.
	Nodes Capability = "needs nodes of its own, and tells their kubelets what to do"
	// Disks are slow, fail and get lost.
	Disks Capability = "makes the disks slow, makes them fail, or loses them"
	// Callbacks are requests of the API server to this process.
	Callbacks Capability = "has the API server call back to this process"
)

// Needs selects a test out, with a reason, if the cluster lacks a capability.
// The verbs of a World call it; a test that would come to such a verb late, or
// that shares what it sets up, calls it first. Shared.Main prints what was
// selected out.
func (c *Cluster) Needs(tb testing.TB, capability Capability) {
	tb.Helper()
	if !c.existing {
		return
	}
	c.mu.Lock()
	c.left = append(c.left, selected{tb.Name(), capability})
	c.mu.Unlock()
	tb.Skip("not on an existing cluster: this test ", capability)
}

// selected is a test that was selected out.
type selected struct {
	test   string
	reason Capability
}

// tellLeft lists the tests that were selected out, by reason.
func (c *Cluster) tellLeft() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 {
		return ""
	}
	byReason := map[Capability][]string{}
	for _, s := range c.left {
		byReason[s.reason] = append(byReason[s.reason], s.test)
	}
	var said strings.Builder
	fmt.Fprintf(&said, "tests that do not run on an existing cluster: %d\n", len(c.left))
	for _, reason := range []Capability{Programs, Audit, Nodes, Disks, Callbacks} {
		if tests := byReason[reason]; len(tests) > 0 {
			slices.Sort(tests)
			fmt.Fprintf(&said, "  %s: %s\n", reason, strings.Join(tests, ", "))
		}
	}
	return said.String()
}
