// SPDX-License-Identifier: Apache-2.0

// Package flux holds tests of fleets under Flux: its own kustomize-controller
// applies examples/flux to a real control plane, beside the healer and the
// webhook. They run the commands of docs/flux.md and the jobs of examples/flux/ci.
package flux
