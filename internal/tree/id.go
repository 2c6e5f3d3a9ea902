// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ID is what may exist once in a cluster.
type ID struct {
	Group, Kind, Namespace, Name string
}

// IDOf reads an object's identity; what is missing is empty.
func IDOf(object *Node) ID {
	group, _, found := strings.Cut(object.GetText("apiVersion"), "/")
	if !found {
		group = ""
	}
	return ID{Group: group, Kind: object.GetText("kind"),
		Namespace: object.GetText("metadata", "namespace"), Name: object.GetText("metadata", "name")}
}

// IDOfTyped returns the identity of a typed object that knows its kind.
func IDOfTyped(object interface {
	metav1.Object
	runtime.Object
}) ID {
	gvk := object.GetObjectKind().GroupVersionKind()
	return ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: object.GetNamespace(), Name: object.GetName()}
}

// String names the object for people, as "Kind namespace/name".
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// FileName is where the object goes in a directory: "namespace_kind_name.yaml", or "kind_name.yaml" without a namespace.
// None of the parts can hold an underscore, so different objects of a kind have different names.
func (id ID) FileName() string {
	name := strings.ToLower(id.Kind) + "_" + id.Name + ".yaml"
	if id.Namespace != "" {
		name = id.Namespace + "_" + name
	}
	return strings.ReplaceAll(name, "/", "_")
}
