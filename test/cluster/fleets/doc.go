// SPDX-License-Identifier: Apache-2.0

// Package fleets holds tests of what render prints on a real control plane:
// that the API server stores it as it is, and that the StatefulSet controller
// and the scheduler do with it what a fleet needs.
package fleets
