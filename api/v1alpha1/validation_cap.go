// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ZoneCap returns the most members that a zone of the fleet may hold, defaulted or not. A fleet has no cap in Relaxed mode, and
// an Ordered BucketFleet has none either: its ordinals have their zones.
func ZoneCap(f Fleet) (perZone int, capped bool) {
	p := &f.Shared().Placement
	switch {
	case p.Mode == PlacementRelaxed, f.Kind() == KindBucketFleet && f.Ordered():
		return 0, false
	case p.MaxPerZone == nil:
		return DefaultMaxPerZone, true
	default:
		return int(*p.MaxPerZone), true
	}
}

// ValidateCap returns an error for each count of members that the fleet's zones cannot hold. It is no part of Validate: a fleet
// above its cap runs with the members that have a place, and the healer goes on with them. So who writes a fleet is asked: the
// command refuses it, and a change that brings it in can be refused. What Validate reports already is not reported again.
func ValidateCap(f Fleet) field.ErrorList {
	zones := len(f.Shared().Placement.Zones)
	perZone, capped := ZoneCap(f)
	if !capped || zones == 0 || perZone < 1 {
		return nil
	}
	return atMostInZones(field.NewPath("spec", "replicas"), f.Shared().Replicas, zones, perZone)
}

func atMostInZones(path *field.Path, count *int32, zones, perZone int) field.ErrorList {
	if count == nil || *count > MaxMembers || int(*count) <= zones*perZone {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *count, fmt.Sprintf(
		"must be at most %d, the number of placement.zones (%d) times placement.maxPerZone (%d): set placement.maxPerZone to %d, or lower the number",
		zones*perZone, zones, perZone, (int(*count)+zones-1)/zones))}
}
