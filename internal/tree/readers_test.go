// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// yamlReaders are the readers that see what this project prints: yaml/v3 under most Go tools, sigs.k8s.io/yaml (YAML 1.1)
// under kubectl and the API machinery, kyaml under kustomize. Each returns the value as a tree.
var yamlReaders = map[string]func(text []byte) (*tree.Node, error){
	"yaml/v3": func(text []byte) (*tree.Node, error) {
		var n yaml.Node
		if err := yaml.Unmarshal(text, &n); err != nil {
			return nil, err
		}
		if len(n.Content) != 1 {
			return nil, fmt.Errorf("%d documents", len(n.Content))
		}
		return fromYAMLNode(n.Content[0])
	},
	"yaml/v3 values": func(text []byte) (*tree.Node, error) {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return nil, err
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return tree.FromJSON(asJSON)
	},
	"sigs.k8s.io/yaml": func(text []byte) (*tree.Node, error) {
		asJSON, err := sigsyaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, err
		}
		return tree.FromJSON(asJSON)
	},
	"kyaml": func(text []byte) (*tree.Node, error) {
		n, err := kyaml.Parse(string(text))
		if err != nil {
			return nil, err
		}
		if n.YNode().Kind == kyaml.ScalarNode {
			return fromYAMLNode(n.YNode()) // its JSON is for objects and lists
		}
		asJSON, err := n.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return tree.FromJSON(asJSON)
	},
}

// fromYAMLNode keeps the order of keys and the text of numbers, which the other readers lose.
func fromYAMLNode(n *yaml.Node) (*tree.Node, error) {
	switch n.ShortTag() {
	case "!!null":
		return &tree.Node{}, nil
	case "!!bool":
		return &tree.Node{Kind: tree.Bool, Text: n.Value}, nil
	case "!!int", "!!float":
		return &tree.Node{Kind: tree.Number, Text: n.Value}, nil
	case "!!str":
		return tree.Str(n.Value), nil
	case "!!seq":
		out := &tree.Node{Kind: tree.List}
		for _, c := range n.Content {
			item, err := fromYAMLNode(c)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	case "!!map":
		out := &tree.Node{Kind: tree.Map}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := fromYAMLNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			if n.Content[i].ShortTag() != "!!str" {
				return nil, fmt.Errorf("key %s is %s", n.Content[i].Value, n.Content[i].ShortTag())
			}
			out.Fields = append(out.Fields, tree.Field{Key: n.Content[i].Value, Value: value})
		}
		return out, nil
	default:
		return nil, fmt.Errorf("tag %s", n.ShortTag())
	}
}

// canonical is what trees are compared by where a reader does not keep the order.
func canonical(n *tree.Node) string { return string(tree.AppendJSON(nil, n)) }

// disagreement returns what the first reader that does not read text as want makes of it, or "".
func disagreement(text []byte, want *tree.Node) string {
	if !utf8.Valid(text) {
		return "is not UTF-8"
	}
	for _, name := range []string{"yaml/v3", "yaml/v3 values", "sigs.k8s.io/yaml", "kyaml"} {
		got, err := yamlReaders[name](text)
		if err != nil {
			return fmt.Sprintf("%s: %v", name, err)
		}
		if canonical(got) != canonical(want) {
			return fmt.Sprintf("%s reads %s, want %s", name, canonical(got), canonical(want))
		}
	}
	return ""
}
