// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CustomResourceDefinitions of Fleetwright, generated from the types in api/v1alpha1.
package crd

import "embed"

// Files holds one YAML file for each CustomResourceDefinition.
//
//go:embed *.yaml
var Files embed.FS
