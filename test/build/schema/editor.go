// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// object is a JSON object. Encoding sorts its keys.
type object = map[string]any

// editorSchema returns the JSON Schema of a kind, in draft 7, which the YAML language servers of editors know best. It
// refuses unknown fields where the API server drops them, and says what a schema can say: CEL rules over several fields are
// left to `fleetwright validate`.
func editorSchema(def *apiextensionsv1.CustomResourceDefinition) object {
	version := def.Spec.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	return object{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                def.Spec.Names.Kind,
		"description":          unwrap(root.Description),
		"type":                 "object",
		"additionalProperties": false,
		"required":             []string{"apiVersion", "kind", "metadata", "spec"},
		"properties": object{
			"apiVersion": object{"const": def.Spec.Group + "/" + version.Name},
			"kind":       object{"const": def.Spec.Names.Kind},
			"metadata":   metadata(),
			"spec":       convert(&spec),
			"status":     object{"type": "object", "description": unwrap(root.Properties["status"].Description)},
		},
	}
}

// metadata is open, since the API server knows more of it than users write.
func metadata() object {
	texts := object{"type": "object", "additionalProperties": object{"type": "string"}}
	return object{
		"type":     "object",
		"required": []string{"name"},
		"properties": object{
			"name": object{
				"type": "string", "maxLength": v1alpha1.MaxNameLength, "pattern": `^[a-z]([-a-z0-9]*[a-z0-9])?$`,
				"not":         object{"pattern": "-(peers|routing)$"},
				"description": "Name of the fleet, a DNS label that does not end in -peers or -routing.",
			},
			"namespace":   object{"type": "string", "maxLength": 63, "pattern": `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`},
			"labels":      texts,
			"annotations": texts,
		},
	}
}

func convert(s *apiextensionsv1.JSONSchemaProps) object {
	out := limits(s)
	if s.Description != "" {
		out["description"] = unwrap(s.Description)
	}
	if s.XIntOrString {
		out["anyOf"] = []object{{"type": "integer"}, {"type": "string"}}
	} else if s.Type != "" {
		out["type"] = s.Type
	}
	if s.Items != nil {
		out["items"] = convert(s.Items.Schema)
		if s.XListType != nil && *s.XListType == "set" {
			out["uniqueItems"] = true
		}
	}
	switch {
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		out["additionalProperties"] = convert(s.AdditionalProperties.Schema)
	case s.Type == "object" && s.XPreserveUnknownFields == nil:
		out["additionalProperties"] = false
	}
	if len(s.Properties) > 0 {
		properties := object{}
		for name := range s.Properties {
			child := s.Properties[name]
			properties[name] = convert(&child)
		}
		out["properties"] = properties
	}
	if p, message := patternOf(s); p != "" {
		out["pattern"], out["patternErrorMessage"] = p, message
	}
	return out
}

// limits copies the keywords that mean the same in both dialects.
func limits(s *apiextensionsv1.JSONSchemaProps) object {
	same := apiextensionsv1.JSONSchemaProps{
		Enum: s.Enum, Required: s.Required, Pattern: s.Pattern, MinLength: s.MinLength, MaxLength: s.MaxLength,
		Minimum: s.Minimum, Maximum: s.Maximum, MinItems: s.MinItems, MaxItems: s.MaxItems,
		MinProperties: s.MinProperties, MaxProperties: s.MaxProperties,
	}
	text, err := json.Marshal(same)
	if err != nil {
		panic(err) // plain values that were just read from YAML
	}
	out := object{}
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

var matchRule = regexp.MustCompile(`^(self == "" \|\| )?self\.matches\('(.*)'\)$`)

// patternOf returns the pattern of a CEL rule that is nothing but one, and its message.
func patternOf(s *apiextensionsv1.JSONSchemaProps) (pattern, message string) {
	for _, rule := range s.XValidations {
		parts := matchRule.FindStringSubmatch(rule.Rule)
		if parts == nil {
			continue
		}
		pattern = strings.ReplaceAll(parts[2], `\\`, `\`)
		if parts[1] != "" {
			pattern = "^$|" + pattern
		}
		return pattern, rule.Message
	}
	return "", ""
}

// unwrap joins the lines of each paragraph.
func unwrap(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
