// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// types are those of sealed objects, by kind.
var types = map[string]reflect.Type{
	"StatefulSet":         reflect.TypeFor[appsv1.StatefulSet](),
	"Deployment":          reflect.TypeFor[appsv1.Deployment](),
	"PodDisruptionBudget": reflect.TypeFor[policyv1.PodDisruptionBudget](),
	"NetworkPolicy":       reflect.TypeFor[networkingv1.NetworkPolicy](),
	"Ingress":             reflect.TypeFor[networkingv1.Ingress](),
	"Service":             reflect.TypeFor[corev1.Service](),
	"HTTPRoute":           reflect.TypeFor[gatewayv1.HTTPRoute](),
}

// Known returns an object without the fields of its spec that this version does not know, and their paths. A newer API server
// may fill in such fields by itself.
func Known(object *tree.Node) (rest *tree.Node, unknown []string) {
	t, ok := types[object.GetText("kind")]
	if !ok {
		return object, nil
	}
	field, _ := t.FieldByName("Spec")
	rest = object.Replace("spec", func(spec *tree.Node) *tree.Node {
		spec, unknown = known("spec", spec, field.Type, nil)
		return spec
	})
	return rest, unknown
}

func known(path string, n *tree.Node, t reflect.Type, unknown []string) (*tree.Node, []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && n.Kind == tree.Map:
		fields := fieldsOf(t)
		if len(fields) == 0 {
			return n, unknown // its JSON is its own affair
		}
		n = n.Filter(func(key string, _ *tree.Node) bool {
			_, is := fields[key]
			if !is {
				unknown = append(unknown, child(path, key))
			}
			return is
		})
		for i, f := range n.Fields {
			n.Fields[i].Value, unknown = known(child(path, f.Key), f.Value, fields[f.Key], unknown)
		}
	case t.Kind() == reflect.Slice && n.Kind == tree.List:
		n = n.Each(func(item *tree.Node) *tree.Node {
			name := item.GetText("name")
			item, unknown = known(path+"["+name+"]", item, t.Elem(), unknown)
			return item
		})
	}
	return n, unknown
}

// fields are those of a type, by the names that they have in JSON.
var fields sync.Map

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if found, ok := fields.Load(t); ok {
		return found.(map[string]reflect.Type)
	}
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, inline, _, ok := tree.JSONField(t.Field(i))
		switch {
		case ok && inline:
			inner := t.Field(i).Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for key, of := range fieldsOf(inner) {
				out[key] = of
			}
		case ok:
			out[name] = t.Field(i).Type
		}
	}
	fields.Store(t, out)
	return out
}
