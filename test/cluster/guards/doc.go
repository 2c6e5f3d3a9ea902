// SPDX-License-Identifier: Apache-2.0

// Package guards holds tests of the webhook against a real control plane: the
// program's own wiring in this process, certificates that it made, the rights
// of its ServiceAccount, and the configuration that is shipped, but for the
// address.
package guards
