// SPDX-License-Identifier: Apache-2.0

// Package policy holds the admission policy that goes with the CustomResourceDefinitions: it forbids changes of what cannot be
// changed, where rules of the definitions would answer that the object is invalid.
package policy

import _ "embed"

// Fields is the ValidatingAdmissionPolicy and its binding, two YAML documents.
//
//go:embed fields.yaml
var Fields []byte
