// SPDX-License-Identifier: Apache-2.0

// Package rules decides what to do about a fleet: a snapshot of plain values goes in, a decision comes out.
//
// An Observer fills in a Snapshot through Objects, whatever they read: caches, the API server, a dump or a model. Decide asks
// an ordered list of rules, one file each (rule_*.go), and returns at most one Action. StatusOf tells what was seen and
// decided. Time is an argument. No client, clock, logger, environment or map order takes part, and what is not known makes a
// rule wait.
package rules
