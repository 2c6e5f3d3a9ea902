// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/render"
)

// across finds what is wrong between documents: the same object twice, two fleets with one identity, one bucket or one
// name, and objects that a fleet renders to anyway.
func (r *reader) across() {
	objects, identities, buckets, names := places{}, places{}, places{}, places{}
	for i := range r.documents {
		doc := &r.documents[i]
		if first := objects.put(doc.id, doc); first != nil {
			r.clash(doc, first, "metadata.name", "%s is there already, at %s: keep one of them", doc.id)
			continue
		}
		if doc.Fleet == nil {
			continue
		}
		if first := names.put(doc.id.Namespace+"/"+doc.id.Name, doc); first != nil {
			r.clash(doc, first, "metadata.name", "%s has the same name, at %s, and so the same Services: rename one of them", first.id)
		}
		if first := identities.put(render.Identity(doc.Fleet), doc); first != nil {
			r.clash(doc, first, "spec.identity", "%s has the same identity, at %s, and so the same disks: an identity belongs to one fleet", first.id)
		}
		bucket := doc.Fleet.Store().BucketURL().String()
		if first := buckets.put(bucket, doc); first != nil {
			r.clash(doc, first, "spec.storage.bucket", "%s uses %s too, at %s: a bucket, or a prefix of it, belongs to one fleet", first.id, bucket)
		}
	}
	for i := range r.documents {
		r.rendered(&r.documents[i], names)
	}
}

// rendered refuses an object that has the name of one that a fleet of the input renders to.
func (r *reader) rendered(doc *Document, fleets places) {
	if doc.Fleet != nil || doc.replaced {
		return
	}
	name := doc.id.Name
	switch doc.id.Kind {
	case "Service":
		name = strings.TrimSuffix(name, "-peers")
	case "NetworkPolicy", "HTTPRoute", "Ingress":
		name = strings.TrimSuffix(name, "-routing")
	case "StatefulSet", "Deployment", "PodDisruptionBudget":
	default:
		return
	}
	namespace := doc.id.Namespace
	if namespace == "" {
		namespace = r.opts.Namespace
	}
	if fleet := fleets[namespace+"/"+name]; fleet != nil {
		r.clash(doc, fleet, "metadata.name", "%s, at %s, renders to an object of this name: remove this one, "+
			"and keep rendered objects in a directory of their own", fleet.id)
	}
}

func (r *reader) clash(doc, first *Document, path, format string, args ...any) {
	p := Problem{File: doc.File, Pos: doc.Pos, Field: path}
	if doc.root != nil && doc.Pos.Line > 0 {
		p.Pos = locate(doc.root, path)
	}
	if doc.Pos.Line == 0 {
		p.Object = doc.id
	}
	where := first.File
	if first.Pos.Line > 0 {
		where += fmt.Sprintf(":%d", first.Pos.Line)
	}
	p.Message = fmt.Sprintf(format, append(args, where)...)
	r.fail(p)
}

// places remembers the first document that claimed a key.
type places map[any]*Document

func (p places) put(key any, doc *Document) *Document {
	if first := p[key]; first != nil {
		return first
	}
	p[key] = doc
	return nil
}
