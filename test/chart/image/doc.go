// SPDX-License-Identifier: Apache-2.0

// Package image checks the Dockerfile without a container: it is parsed and linted, and its build commands, run in copies
// of what its context holds, make the same bytes.
package image
