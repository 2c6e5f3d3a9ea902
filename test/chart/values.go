// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	tableStart = "<!-- values: written from values.yaml by make generate -->\n"
	tableEnd   = "<!-- end of values -->\n"
)

// A Value is a key of values.yaml with a comment.
type Value struct{ Path, Default, About string }

// Values returns them in the order of the file. A key below another that has a comment is part of its default.
func Values(text []byte) ([]Value, error) {
	var tree map[string]any
	if err := yaml.UnmarshalStrict(text, &tree); err != nil {
		return nil, err
	}
	var values []Value
	var path, about []string
	described := -1 // indentation of the last key with a comment
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimSpace(line)
		indent := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		key, _, isKey := strings.Cut(bare, ":")
		switch {
		case bare == "":
			about = nil
		case strings.HasPrefix(bare, "#"):
			about = append(about, strings.TrimSpace(bare[1:]))
		case strings.HasPrefix(bare, "- "), described >= 0 && indent > described: // part of a default
		case !isKey:
			return nil, fmt.Errorf("values.yaml: %q is no key", bare)
		default:
			described = -1
			path = append(path[:indent], key)
			if len(about) > 0 {
				standard, err := valueAt(tree, path)
				if err != nil {
					return nil, err
				}
				values = append(values, Value{strings.Join(path, "."), standard, strings.Join(about, " ")})
				about, described = nil, indent
			}
		}
	}
	return values, nil
}

// valueAt returns a value as JSON.
func valueAt(tree map[string]any, path []string) (string, error) {
	var at any = tree
	for _, key := range path {
		group, ok := at.(map[string]any)
		if !ok {
			return "", fmt.Errorf("values.yaml: nothing at %s", strings.Join(path, "."))
		}
		at = group[key]
	}
	text, err := json.Marshal(at)
	return string(text), err
}

// WithTable returns a README with the table of values in its place.
func WithTable(readme string, values []Value) (string, error) {
	before, rest, found := strings.Cut(readme, tableStart)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return "", fmt.Errorf("the README has no place for the table of values")
	}
	var out strings.Builder
	out.WriteString(before + tableStart + "| value | default | what it is |\n|---|---|---|\n")
	for _, v := range values {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", v.Path, v.Default, strings.ReplaceAll(v.About, "|", `\|`))
	}
	out.WriteString(tableEnd + after)
	return out.String(), nil
}
