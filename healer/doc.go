// SPDX-License-Identifier: Apache-2.0

// Package healer does what declarative sync cannot do for a fleet: it replaces members that cannot come back, grows and
// contracts at a safe pace, deletes, and reports.
//
// One reconcile observes the cluster as plain values, decides, confirms the decision against live reads, takes at most one
// action with UID and resourceVersion preconditions, and publishes an event, metrics and the status. Nothing about a
// lifecycle is stored: the cluster as it is now decides. Decide and the files rule_*.go are pure; time is an argument.
// What is not known makes a rule wait.
package healer
