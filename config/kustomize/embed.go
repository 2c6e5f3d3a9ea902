// SPDX-License-Identifier: Apache-2.0

// Package kustomize holds the configuration that kustomize needs to treat fleets as it treats built-in kinds.
package kustomize

import _ "embed"

// Config lists, for kustomize's `configurations`, the fields of fleets that name other objects, hold an image, or count
// replicas.
//
//go:embed kustomizeconfig.yaml
var Config []byte

// OpenAPI is, for kustomize's `openapi.path`, a schema of fleets with merge keys, so that a patch of one list entry keeps
// the others.
//
//go:embed openapi.json
var OpenAPI []byte
