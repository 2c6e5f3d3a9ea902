// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/effects"
)

// fleetCap keeps counts and zones together in Strict mode: a member beyond what the zones may hold would wait for a place for
// ever. A fleet that is above its cap already can be changed in any other way.
func fleetCap(in *Input) finding {
	f := finding{}
	if errs := v1alpha1.ValidateCap(in.Object.Fleet); in.Old == nil || excess(in.Object.Fleet) > excess(in.Old.Fleet) {
		for _, e := range errs {
			f.reasons = append(f.reasons, Reason{Field: e.Field, Problem: e.ErrorBody(),
				Remedy: "do so in the same commit; another placement.maxPerZone restarts members one at a time"})
		}
	}
	if in.Old != nil {
		f.reasons = append(f.reasons, crowded(in)...)
	}
	return f
}

// fleetScaled: more members are asked for through the fleet's scale subresource, which does not show the zones.
func fleetScaled(in *Input) bool {
	return in.Operation == Update && in.Subresource == "scale" && (in.Resource == PersistentFleets || in.Resource == BucketFleets) &&
		in.Object.replicas(0) > in.Old.replicas(0)
}

// fleetScale is fleetCap for such a request.
func fleetScale(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	count := in.Object.replicas(0)
	for _, fleet := range in.Facts.Fleets.Value {
		mine := fleet.Name == in.Name && fleet.resource() == in.Resource
		if mine && fleet.Most > 0 && count > int64(fleet.Most) {
			return deny("spec.replicas", fmt.Sprintf("is %d, and the zones of %s hold %d members", count, fleet, fleet.Most),
				"raise placement.maxPerZone first, which restarts members one at a time, or ask for fewer")
		}
	}
	return finding{}
}

// excess is how many members of a fleet have no place in its zones.
func excess(f v1alpha1.Fleet) int {
	perZone, capped := v1alpha1.ZoneCap(f)
	if !capped || f.Shared().Replicas == nil {
		return 0
	}
	return max(0, int(*f.Shared().Replicas)-len(f.Shared().Placement.Zones)*perZone)
}

// crowded names the zones that hold more members than a new or lower cap admits: a member that restarts there would wait, on a
// disk that it can use nowhere else.
func crowded(in *Input) []Reason {
	most, capped := v1alpha1.ZoneCap(in.Object.Fleet)
	before, wasCapped := v1alpha1.ZoneCap(in.Old.Fleet)
	if !capped || wasCapped && most >= before {
		return nil
	}
	held, need := map[string]int{}, 0
	for _, m := range in.Old.Fleet.State().Members {
		held[m.Zone]++
	}
	zones := in.Object.Fleet.Shared().Placement.Zones
	for _, zone := range zones {
		need = max(need, held[zone])
	}
	var reasons []Reason
	for _, zone := range zones {
		if held[zone] > most {
			reasons = append(reasons, Reason{"spec.placement.maxPerZone", fmt.Sprintf("is %d, and zone %s holds %d members", most, zone, held[zone]),
				fmt.Sprintf("set it to %d or more", need)})
		}
	}
	return reasons
}

// placementWarnings say where members will find no node, in the words of fleetwright plan.
func placementWarnings(in *Input) []string {
	var out []string
	for _, e := range effects.Placement(in.Old.Fleet, in.Object.Fleet) {
		out = append(out, "spec.placement: "+e.Verb+" "+e.Text)
	}
	if len(out) > 0 {
		out = append([]string{"spec.placement: every member restarts, one at a time"}, out...)
	}
	return out
}
