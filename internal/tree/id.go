// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"crypto/sha256"
	"fmt"
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

// maxFileName bounds file names, in bytes: most file systems take 255, some of them less.
const maxFileName = 200

// FileName is where the object goes in a directory: "namespace_kind_name.yaml", or "kind_name.yaml" without a namespace, and
// with its API group "namespace_kind.group_name.yaml". No part of a usual object can hold an underscore, so different ones of a
// kind have different names. What some disk does not take, such as capitals beside small letters, a colon or a long name, becomes
// a name that every disk takes, with a digest of the object's own.
func (id ID) FileName(withGroup bool) string {
	name := strings.ToLower(id.Kind)
	if withGroup && id.Group != "" {
		name += "." + id.Group
	}
	name += "_" + id.Name
	if id.Namespace != "" {
		name = id.Namespace + "_" + name
	}
	name = strings.ReplaceAll(name, "/", "_")
	plain := strings.Map(everyDiskTakes, name)
	if plain == name && len(name)+len(extension) <= maxFileName {
		return name + extension
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{id.Group, id.Kind, id.Namespace, id.Name}, "\x00")))
	suffix := fmt.Sprintf("-%x", sum[:5]) + extension
	return plain[:min(len(plain), maxFileName-len(suffix))] + suffix
}

const extension = ".yaml"

// everyDiskTakes returns a character for a file name that disks with and without case take.
func everyDiskTakes(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', strings.ContainsRune("._-", r):
		return r
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	default:
		return '-'
	}
}
