// SPDX-License-Identifier: Apache-2.0

// Package kustomize holds the configuration that kustomize needs to treat fleets as it treats built-in kinds.
package kustomize

import _ "embed"

// Config lists, for kustomize's `configurations`, the fields of fleets that name other objects, hold an image, or count
// replicas.
//
//go:embed kustomizeconfig.yaml
var Config []byte

// OpenAPI is a schema of fleets with merge keys, so that a strategic merge patch of one list entry keeps the others. The
// fleetwright command adds it to kustomize's own schema. In a kustomization's `openapi.path` it stands instead of that:
// patches of lists in built-in kinds then replace the list, so give fleets a kustomization of their own there.
//
//go:embed openapi.json
var OpenAPI []byte
