// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the types of built-in plugins are nowhere else

	"github.com/fleetwright/fleetwright/internal/tree"
)

// spelling reports every key that a type does not have in exactly this spelling. Kustomize takes keys in any case, so one that is
// not spelt exactly would have an effect that nobody who looks for it sees: not a reviewer, and not this survey.
func (k *surveyed) spelling(n *tree.Node, t reflect.Type, at trail) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice:
		for i, item := range n.Items {
			k.spelling(item, t.Elem(), append(at[:len(at):len(at)], step{index: i, list: true}))
		}
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(unmarshalerType):
		fields := fieldsOf(t)
		for _, f := range n.Fields {
			below := append(at[:len(at):len(at)], step{key: f.Key})
			index, known := fields.index[f.Key]
			if known {
				k.spelling(f.Value, t.FieldByIndex(index).Type, below)
				continue
			}
			message := "unknown field"
			if near := nearest(f.Key, fields.names); near != "" {
				message += fmt.Sprintf(", did you mean %q?", near)
			}
			k.fail(f.Pos, below.String(), "%s", message)
		}
	}
}

// pluginTypes are the configurations of built-in plugins that name files, or hold what names files.
var pluginTypes = map[string]reflect.Type{
	"AnnotationsTransformer":         reflect.TypeFor[builtins.AnnotationsTransformerPlugin](),
	"ConfigMapGenerator":             reflect.TypeFor[builtins.ConfigMapGeneratorPlugin](),
	"ImageTagTransformer":            reflect.TypeFor[builtins.ImageTagTransformerPlugin](),
	"LabelTransformer":               reflect.TypeFor[builtins.LabelTransformerPlugin](),
	"NamespaceTransformer":           reflect.TypeFor[builtins.NamespaceTransformerPlugin](),
	"PatchJson6902Transformer":       reflect.TypeFor[builtins.PatchJson6902TransformerPlugin](),
	"PatchStrategicMergeTransformer": reflect.TypeFor[builtins.PatchStrategicMergeTransformerPlugin](),
	"PatchTransformer":               reflect.TypeFor[builtins.PatchTransformerPlugin](),
	"PrefixTransformer":              reflect.TypeFor[builtins.PrefixTransformerPlugin](),
	"ReplacementTransformer":         reflect.TypeFor[builtins.ReplacementTransformerPlugin](),
	"ReplicaCountTransformer":        reflect.TypeFor[builtins.ReplicaCountTransformerPlugin](),
	"SecretGenerator":                reflect.TypeFor[builtins.SecretGeneratorPlugin](),
	"SuffixTransformer":              reflect.TypeFor[builtins.SuffixTransformerPlugin](),
	"ValueAddTransformer":            reflect.TypeFor[builtins.ValueAddTransformerPlugin](),
}

// plugin surveys the configuration of a built-in plugin.
func (k *surveyed) plugin(n *tree.Node) {
	kind := n.GetText("kind")
	at := trail{{key: kind}}
	if t := pluginTypes[kind]; t != nil {
		own := n.Filter(func(key string, _ *tree.Node) bool { return key != "apiVersion" && key != "kind" && key != "metadata" })
		k.spelling(own, t, at)
	}
	k.value("", n, at)
}
