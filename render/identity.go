// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

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
// It is "v1:", the version of its form, and SHA-256 over canonical JSON, in hex. A field that a later version adds leaves the
// digest alone while it is unset, or holds its default.
func SpecDigest(f v1alpha1.Fleet) string {
	return specDigest(new(tree.Arena), defaulted(f))
}

// A DigestForm tells which versions of the command make such a spec digest.
type DigestForm string

// Forms of a spec digest.
const (
	DigestCurrent   DigestForm = "current"   // as SpecDigest makes it
	DigestEarlier   DigestForm = "earlier"   // of an earlier version, which this one knows
	DigestNewer     DigestForm = "newer"     // of a newer version, which this one cannot compare
	DigestMalformed DigestForm = "malformed" // missing, or written by somebody else
)

// DigestMatches reports whether the annotation of a workload is the digest of the fleet's spec, in whatever form it is in, and
// tells that form. A newer or malformed digest never matches.
func DigestMatches(f v1alpha1.Fleet, value string) (same bool, form DigestForm) {
	switch form = digestForm(value); form {
	case DigestCurrent:
		return value == SpecDigest(f), form
	case DigestEarlier: // without its version, and otherwise the same
		return digestPrefix+value == SpecDigest(f), form
	default:
		return false, form
	}
}

// digestPrefix is the version of the form that specDigest makes.
const digestPrefix = "v1:"

func digestForm(value string) DigestForm {
	version, sum, versioned := strings.Cut(value, ":")
	if !versioned {
		sum = value
	}
	n, err := strconv.Atoi(strings.TrimPrefix(version, "v"))
	whole := len(sum) == hex.EncodedLen(sha256.Size) && strings.Trim(sum, "0123456789abcdef") == ""
	switch {
	case !versioned && whole:
		return DigestEarlier
	case version+":" == digestPrefix && whole:
		return DigestCurrent
	case versioned && strings.HasPrefix(version, "v") && err == nil && n > 1:
		return DigestNewer
	default:
		return DigestMalformed
	}
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
	return digestPrefix + seal.Digest(spec)
}

var defaultMaxPerZone = strconv.Itoa(v1alpha1.DefaultMaxPerZone)

// defaulted returns a copy of a fleet with every default filled in.
func defaulted(f v1alpha1.Fleet) v1alpha1.Fleet {
	f = copied(f)
	f.Default()
	return f
}

func copied(f v1alpha1.Fleet) v1alpha1.Fleet { return f.DeepCopyObject().(v1alpha1.Fleet) }
