// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/identity"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Identity is spec.identity if set, else the version 5 UUID of the fleet's namespace, name and canonical bucket URL. The
// same Git state gives the same identity on another cluster, so a restored fleet finds its disks.
func Identity(f v1alpha1.Fleet) string { return identity.Of(f) }

// SpecDigest is the digest of a fleet's defaulted spec without what does not reach the workload's template by itself:
// replicas, capacity, routing, maintenance.paused and maintenance.stopped. The fleet is not changed.
//
// It is SHA-256 over canonical JSON, in hex. A field that a later version adds leaves the digest alone while it is unset, or
// holds its default.
func SpecDigest(f v1alpha1.Fleet) string {
	return specDigest(new(tree.Arena), defaulted(f))
}

func specDigest(arena *tree.Arena, f v1alpha1.Fleet) string {
	spec := arena.Of(f).Get("spec").Filter(func(key string, _ *tree.Node) bool {
		return key != "replicas" && key != "capacity" && key != "routing"
	})
	spec = spec.Replace("maintenance", func(m *tree.Node) *tree.Node {
		return m.Filter(func(key string, _ *tree.Node) bool { return key != "paused" && key != "stopped" })
	})
	// A fleet without a restart token digests alike whether or not it was ever paused.
	spec = spec.Filter(func(key string, value *tree.Node) bool { return key != "maintenance" || len(value.Fields) > 0 })
	// Versions without maxPerZone left it out.
	spec = spec.Replace("placement", func(p *tree.Node) *tree.Node {
		return p.Filter(func(key string, value *tree.Node) bool { return key != "maxPerZone" || value.Text != defaultMaxPerZone })
	})
	spec = spec.Replace("storage", func(s *tree.Node) *tree.Node {
		return s.Replace("bucket", func(*tree.Node) *tree.Node { return tree.Str(f.Store().BucketURL().String()) })
	})
	return seal.Digest(spec)
}

var defaultMaxPerZone = strconv.Itoa(v1alpha1.DefaultMaxPerZone)

// defaulted returns a copy of a fleet with every default filled in.
func defaulted(f v1alpha1.Fleet) v1alpha1.Fleet {
	f = copied(f)
	f.Default()
	return f
}

func copied(f v1alpha1.Fleet) v1alpha1.Fleet { return f.DeepCopyObject().(v1alpha1.Fleet) }
