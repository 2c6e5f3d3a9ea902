// SPDX-License-Identifier: Apache-2.0

package render

import (
	"github.com/fleetwright/fleetwright/internal/tree"
)

// AppendYAML appends the object as one YAML document without a separator.
func (o *Object) AppendYAML(b []byte) []byte { return tree.AppendYAML(b, o.tree) }

// ID is what the object is called.
func (o *Object) ID() tree.ID { return tree.IDOf(o.tree) }

// AppendYAML appends the objects as a YAML stream, each document after its own separator.
func (os Objects) AppendYAML(b []byte) []byte {
	for i := range os {
		b = append(b, "---\n"...)
		b = os[i].AppendYAML(b)
	}
	return b
}

// MarshalJSON is the object as JSON, keys sorted, as it would be sent to the API server.
func (o *Object) MarshalJSON() ([]byte, error) { return tree.AppendJSON(nil, o.tree), nil }
