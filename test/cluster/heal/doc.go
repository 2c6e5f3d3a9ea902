// SPDX-License-Identifier: Apache-2.0

// Package heal tests the healer on a real control plane: each rule acting and
// refusing, whatever else happens. Ten minutes pass because the healer's clock
// is told so.
package heal
