// SPDX-License-Identifier: Apache-2.0

// Package install installs what dist holds, which is the chart with its
// default values, on a real control plane: it is admitted, a second time changes
// nothing, what was installed works with the rights that it has, and its removal
// leaves the definitions and nothing else. It runs the commands of
// docs/install.md that need a cluster.
package install
