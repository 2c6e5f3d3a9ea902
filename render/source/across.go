// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/identity"
)

// across finds what is wrong between documents: the same object twice, two fleets with one identity, one bucket or one
// name, and objects that a fleet renders to anyway.
func (r *reader) across() {
	objects, identities, names := places{}, places{}, places{}
	buckets := map[v1alpha1.BucketURL][]*Document{} // by the whole bucket
	for i := range r.documents {
		doc := &r.documents[i]
		if doc.ID.Name == "" {
			continue // the API server will make one up, or a problem is reported already
		}
		if first := objects.put(doc.ID, doc); first != nil {
			r.clash(doc, first, "metadata.name", "%s is there already, at %s: keep one of them", doc.ID)
			continue
		}
		if doc.Fleet == nil {
			continue
		}
		if first := names.put(doc.ID.Namespace+"/"+doc.ID.Name, doc); first != nil {
			r.clash(doc, first, "metadata.name", "%s has the same name, at %s, and so the same Services: rename one of them", first.ID)
		}
		if first := identities.put(identity.Of(doc.Fleet), doc); first != nil {
			r.clash(doc, first, "spec.identity", "%s has the same identity, at %s, and so the same disks: an identity belongs to one fleet", first.ID)
		}
		bucket := doc.Fleet.Store().BucketURL()
		if doc.Fleet.Store().Bucket == "" {
			continue
		}
		whole := bucket.Whole()
		for _, first := range buckets[whole] {
			if used := first.Fleet.Store().BucketURL(); used.Overlaps(bucket) {
				r.clash(doc, first, "spec.storage.bucket", "%s uses %s too, at %s: a bucket, or a prefix of it, belongs to one fleet", first.ID, used)
				break
			}
		}
		buckets[whole] = append(buckets[whole], doc)
	}
	r.rendered()
}

// rendered refuses objects that a fleet of the input renders to, which would be there twice, and those that were rendered earlier:
// from a fleet that is gone, they would run on beside what replaced it.
func (r *reader) rendered() {
	others := map[ID]*Document{}
	fleets := map[string]bool{}
	for i := range r.documents {
		doc := &r.documents[i]
		id := doc.ID
		if id.Namespace == "" {
			id.Namespace = r.opts.Namespace
		}
		if doc.Fleet == nil && !doc.replaced {
			others[id] = doc
		}
		if doc.Fleet != nil {
			fleets[id.Namespace+"/"+id.Name] = true
		}
	}
	for i := range r.documents {
		fleet := &r.documents[i]
		if fleet.Fleet == nil || len(others) == 0 {
			continue
		}
		for _, id := range objectsOf(fleet.Fleet) {
			if doc := others[id]; doc != nil {
				r.clash(doc, fleet, "metadata.name", "%s, at %s, renders to this object: remove it here, "+
					"and keep rendered objects in a directory of their own", fleet.ID)
				delete(others, id)
			}
		}
	}
	for i := range r.documents {
		doc := &r.documents[i]
		id := doc.ID
		if id.Namespace == "" {
			id.Namespace = r.opts.Namespace
		}
		switch {
		case doc.renderer == "" || others[id] != doc:
		case fleets[doc.renderer]:
			r.about(doc, "metadata.name", "was rendered from the fleet %s, which does not render to it any more: remove it, "+
				"and keep rendered objects in a directory of their own", doc.renderer)
		default:
			r.about(doc, "metadata.name", "was rendered from the fleet %s, which is not in the input: remove it, or it runs on beside "+
				"what replaced it", doc.renderer)
		}
	}
}

// objectsOf names the objects that a fleet may render to.
func objectsOf(f v1alpha1.Fleet) []ID {
	name, peers, routing := f.GetName(), identity.PeerService(f.GetName()), identity.Routing(f.GetName())
	ids := []ID{
		{Group: "apps", Kind: "StatefulSet", Name: name}, {Group: "apps", Kind: "Deployment", Name: name},
		{Group: "policy", Kind: "PodDisruptionBudget", Name: name}, {Group: "networking.k8s.io", Kind: "NetworkPolicy", Name: name},
		{Kind: "Service", Name: name}, {Kind: "Service", Name: peers},
	}
	if f.Shared().Routing.Enabled() {
		ids = append(ids, ID{Group: "networking.k8s.io", Kind: "NetworkPolicy", Name: routing},
			ID{Group: "networking.k8s.io", Kind: "Ingress", Name: routing},
			ID{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Name: routing})
	}
	for i := range ids {
		ids[i].Namespace = f.GetNamespace()
	}
	return ids
}

// clash is about a document and another one, whose place is the last argument.
func (r *reader) clash(doc, first *Document, path, format string, args ...any) {
	where := first.File
	if first.Pos.Line > 0 {
		where += fmt.Sprintf(":%d", first.Pos.Line)
	}
	r.about(doc, path, format, append(args, where)...)
}

func (r *reader) about(doc *Document, path, format string, args ...any) {
	p := Problem{File: doc.File, Pos: doc.Pos, Field: path, Message: fmt.Sprintf(format, args...)}
	if doc.root != nil && doc.Pos.Line > 0 {
		p.Pos = Pos(locate(doc.root, path))
	}
	if doc.Pos.Line == 0 {
		p.Object = doc.ID
	}
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
