// SPDX-License-Identifier: Apache-2.0

package krm

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// appendJSON appends a node as JSON, with keys in their order, for a caller that handed over JSON. All of it was JSON or printed
// here, so that numbers and booleans are spelt as JSON spells them.
func appendJSON(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(tree.AppendQuoted(b, n.Content[i].Value), ':')
			b = appendJSON(b, n.Content[i+1])
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	default:
		if n.ShortTag() != "!!str" && json.Valid([]byte(n.Value)) {
			return append(b, n.Value...)
		}
		return tree.AppendQuoted(b, n.Value)
	}
}
