// SPDX-License-Identifier: Apache-2.0

// Package argocd syncs fleets by Argo CD: its own controllers, repo server and
// plugin server, as processes beside a test control plane, with the plugin, the
// health checks and the examples that ship. Argo CD installs Fleetwright too,
// and what it installs runs. It runs the commands of docs/argocd.md.
package argocd
