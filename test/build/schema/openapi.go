// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// openAPI returns the definitions that kustomize needs for strategic merge patches: the shape of each spec, and the merge
// key of each list whose entries have one, so that a patch of one entry keeps the others.
func openAPI(defs []*apiextensionsv1.CustomResourceDefinition) object {
	definitions := object{}
	for _, def := range defs {
		version := def.Spec.Versions[0]
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
		groups := strings.Split(def.Spec.Group, ".")
		slices.Reverse(groups)
		definitions[strings.Join(append(groups, version.Name, def.Spec.Names.Kind), ".")] = object{
			"type": "object",
			"properties": object{
				"apiVersion": object{"type": "string"},
				"kind":       object{"type": "string"},
				"metadata":   object{"type": "object"},
				"spec":       mergeShape(&spec),
			},
			"x-kubernetes-group-version-kind": []object{
				{"group": def.Spec.Group, "version": version.Name, "kind": def.Spec.Names.Kind}},
		}
	}
	return object{"definitions": definitions}
}

func mergeShape(s *apiextensionsv1.JSONSchemaProps) object {
	out := object{}
	if s.Type != "" {
		out["type"] = s.Type
	}
	if s.Items != nil {
		out["items"] = mergeShape(s.Items.Schema)
	}
	if len(s.XListMapKeys) == 1 {
		out["x-kubernetes-patch-strategy"], out["x-kubernetes-patch-merge-key"] = "merge", s.XListMapKeys[0]
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out["additionalProperties"] = mergeShape(s.AdditionalProperties.Schema)
	}
	if len(s.Properties) > 0 {
		properties := object{}
		for name := range s.Properties {
			child := s.Properties[name]
			properties[name] = mergeShape(&child)
		}
		out["properties"] = properties
	}
	return out
}
