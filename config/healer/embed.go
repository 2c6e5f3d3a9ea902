// SPDX-License-Identifier: Apache-2.0

// Package healer holds what the healer may do, generated from the markers in the package of that name.
package healer

import _ "embed"

// Role is YAML: the ClusterRole of the healer, then the Role for its Lease.
//
//go:embed role.yaml
var Role []byte
