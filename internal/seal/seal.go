// SPDX-License-Identifier: Apache-2.0

// Package seal computes what tells a rendered object from one that somebody changed. It knows objects as the API server stores
// them, and finds in them what render owns.
package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"sync"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// A Seal holds two digests of what render owns in an object: Full of the whole spec, and Owned of render's own fields in
// it, which stay the same when an admission plugin adds a sidecar, a volume or a label. Both cover the object's kind, name,
// namespace, and the labels and annotations of this project; neither covers replicas, status or what the API server
// allocates. Each digest is 128 bits of SHA-256 over canonical JSON, in hex.
type Seal struct {
	Full, Owned string
}

var sealPattern = regexp.MustCompile(`^v1 full=([0-9a-f]{32}) owned=([0-9a-f]{32})$`)

// String is the seal as the annotation holds it; its version tells a later format apart.
func (s Seal) String() string { return "v1 full=" + s.Full + " owned=" + s.Owned }

// Parse reads the annotation. The error tells a person what to do with an object that has another one.
func Parse(text string) (Seal, error) {
	m := sealPattern.FindStringSubmatch(text)
	if m == nil {
		return Seal{}, fmt.Errorf("annotation %s is not a seal that this version reads (want %q): render the object again",
			v1alpha1.AnnotationSeal, Seal{"<32 hex digits>", "<32 hex digits>"})
	}
	return Seal{Full: m[1], Owned: m[2]}, nil
}

// Of computes the seal of an object as it is, from its JSON. What the API server stores for a rendered object has the seal that
// the object was rendered with, as long as nobody changed what render owns.
func Of(raw []byte) (Seal, error) {
	n, err := tree.FromJSON(raw)
	if err != nil {
		return Seal{}, fmt.Errorf("reading the object: %w", err)
	}
	return OfTree(n), nil
}

// OfTree is Of for an object that is a tree already. The tree is left alone.
func OfTree(object *tree.Node) Seal { return ofNormal(normalise(object)) }

// OfRendered is OfTree for an object that render just made: its spec has the form that normalise gives one.
func OfRendered(object *tree.Node) Seal { return ofNormal(object.Replace("metadata", sealedMetadata)) }

func ofNormal(n *tree.Node) Seal {
	s := Seal{Full: Digest(n)[:32]}
	s.Owned = s.Full
	if part := owned(n); part != n {
		s.Owned = Digest(part)[:32]
	}
	return s
}

// Digest is SHA-256 over canonical JSON, in hex.
func Digest(n *tree.Node) string {
	space := digestSpace.Get().(*[]byte)
	defer digestSpace.Put(space)
	*space = tree.AppendJSON((*space)[:0], n)
	sum := sha256.Sum256(*space)
	return hex.EncodeToString(sum[:])
}

var digestSpace = sync.Pool{New: func() any { return new([]byte) }}

// normalise keeps what a seal covers, in the form in which both render and the API server have it. Render writes out every
// default, so nothing has to be filled in here; what only the API server can know is left out.
func normalise(object *tree.Node) *tree.Node {
	kind := object.GetText("kind")
	n := object.Filter(func(key string, _ *tree.Node) bool {
		return key == "apiVersion" || key == "kind" || key == "metadata" || key == "spec"
	})
	n = n.Replace("metadata", sealedMetadata)
	return n.Replace("spec", func(spec *tree.Node) *tree.Node {
		switch kind {
		case "StatefulSet", "Deployment":
			spec = without(spec, "replicas").Replace("template", normaliseTemplate)
			if kind == "StatefulSet" {
				spec = spec.Replace("updateStrategy", normaliseStrategy)
			}
			return spec.Replace("volumeClaimTemplates", func(l *tree.Node) *tree.Node { return l.Each(normaliseClaim) })
		case "Service":
			return normaliseService(spec)
		default:
			return spec
		}
	})
}

// sealedMetadata leaves out what sync tools, the API server and people add.
func sealedMetadata(m *tree.Node) *tree.Node {
	if m.Kind != tree.Map {
		return m
	}
	out := &tree.Node{Kind: tree.Map, Fields: make([]tree.Field, 0, 4)}
	for _, f := range m.Fields {
		switch f.Key {
		case "labels", "annotations":
			f.Value = f.Value.Filter(func(key string, _ *tree.Node) bool {
				return key != v1alpha1.AnnotationSeal && OwnKey(key)
			}).Replace(v1alpha1.LabelManagedBy, managedByHelm)
			if f.Value.Kind != tree.Map || len(f.Value.Fields) == 0 {
				continue
			}
		case "name", "namespace":
		default:
			continue
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// managedByHelm is the label as render prints it: Helm writes its own name there, on every object that it installs.
func managedByHelm(value *tree.Node) *tree.Node {
	if value.Text == "Helm" {
		return tree.Str(v1alpha1.ManagedBy)
	}
	return value
}

// normaliseStrategy drops the limit of members that a rollout takes down at once where it is the default. Only API servers
// with the feature gate MaxUnavailableStatefulSet know the field, and they fill it in.
func normaliseStrategy(s *tree.Node) *tree.Node {
	return s.Replace("rollingUpdate", func(r *tree.Node) *tree.Node {
		return r.Filter(func(key string, value *tree.Node) bool {
			return key != "maxUnavailable" || value.Text != "1" || value.Kind != tree.Number && value.Kind != tree.String
		})
	})
}

func normaliseTemplate(t *tree.Node) *tree.Node {
	t = t.Replace("metadata", normaliseInnerMetadata)
	return t.Replace("spec", func(spec *tree.Node) *tree.Node {
		// The API server writes serviceAccountName a second time under its old name.
		spec = without(spec, "serviceAccount")
		spec = spec.Replace("containers", func(l *tree.Node) *tree.Node { return l.Each(normaliseContainer) })
		return spec.Replace("volumes", func(l *tree.Node) *tree.Node {
			return l.Each(func(v *tree.Node) *tree.Node {
				return v.Replace("emptyDir", func(e *tree.Node) *tree.Node { return e.Replace("sizeLimit", canonicalQuantity) })
			})
		})
	})
}

func normaliseContainer(c *tree.Node) *tree.Node {
	return c.Replace("resources", normaliseResources)
}

func normaliseClaim(c *tree.Node) *tree.Node {
	c = without(c, "status").Replace("metadata", normaliseInnerMetadata)
	return c.Replace("spec", func(s *tree.Node) *tree.Node { return s.Replace("resources", normaliseResources) })
}

func normaliseResources(r *tree.Node) *tree.Node {
	quantities := func(list *tree.Node) *tree.Node {
		for _, f := range list.Fields {
			list = list.Replace(f.Key, canonicalQuantity)
		}
		return list
	}
	return r.Replace("requests", quantities).Replace("limits", quantities)
}

// normaliseInnerMetadata drops what older writers leave in the metadata of templates.
func normaliseInnerMetadata(m *tree.Node) *tree.Node {
	m = m.Filter(func(key string, value *tree.Node) bool { return key != "creationTimestamp" || value.Kind != tree.Null })
	return dropEmpty(m, "labels", "annotations")
}

// normaliseService drops the addresses that the API server allocates; None is not one of them.
func normaliseService(spec *tree.Node) *tree.Node {
	headless := spec.GetText("clusterIP") == "None"
	return spec.Filter(func(key string, _ *tree.Node) bool {
		return key != "clusterIPs" && key != "ipFamilies" && (key != "clusterIP" || headless)
	})
}
