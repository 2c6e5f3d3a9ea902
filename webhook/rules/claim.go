// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func isClaim(in *Input, operation Operation) bool {
	return in.writes(operation, Claims)
}

// claimCreated: a claim at a name that a member could have.
func claimCreated(in *Input) bool {
	if !isClaim(in, Create) {
		return false
	}
	_, _, ok := memberOf(in.Object.Name)
	return ok
}

// memberOf returns the fleet and the ordinal of a member that a claim of this name could belong to.
func memberOf(claim string) (fleet string, ordinal int, ok bool) {
	fleet, ordinal, ok = render.ParseClaimName(claim)
	return fleet, ordinal, ok && ordinal < v1alpha1.MaxMembers
}

// claimCreate: a member would start on it as if the disk were its own, and may lose it to an owner.
func claimCreate(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleets of the namespace"); why != "" {
		return dontKnow(why)
	}
	name, _, _ := render.ParseClaimName(in.Object.Name)
	for _, fleet := range in.Facts.Fleets.Value {
		if fleet.Name != name || fleet.Terminating || fleet.Kind != v1alpha1.KindPersistentFleet {
			continue
		}
		if fleet.Identity == in.Object.Identity {
			return finding{reasons: diskOwned(in, &fleet)}
		}
		return deny("metadata.labels["+v1alpha1.LabelFleetUID+"]",
			fmt.Sprintf("the name is that of a member's claim of %s, whose identity is %s", fleet, fleet.Identity),
			"use another name; a disk of the fleet that is restored carries the label")
	}
	return finding{}
}

// claimMoved: the identity of a claim is set, changed or removed, or it gets an owner.
func claimMoved(in *Input) bool {
	return isClaim(in, Update) && (in.Object.Identity != in.Old.Identity || in.Object.Identity != "" && len(ownersByHand(in)) > 0)
}

// ownersByHand are the owners that somebody adds to a claim. The StatefulSet controller adds and removes its own, and the others of
// the control plane tidy up. Another StatefulSet may have claims of the same names, as "fleet" with a template "data-my" has: those
// of a fleet "my-fleet" are not its own.
func ownersByHand(in *Input) []string {
	if in.byControlPlane() {
		return nil
	}
	added := in.newOwners()
	if in.User != statefulSetController {
		return added
	}
	fleet, ordinal, _ := memberOf(in.Object.Name)
	return slices.DeleteFunc(added, func(owner string) bool {
		return strings.HasPrefix(owner, "StatefulSet "+fleet+" ") || strings.HasPrefix(owner, "Pod "+render.PodName(fleet, ordinal)+" ")
	})
}

// claimIdentity: a disk stays with its fleet, and deleting a fleet deletes every claim with its identity. Deleting an owner
// would delete a member's disk.
func claimIdentity(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleets of the namespace"); why != "" {
		return dontKnow(why)
	}
	const path = "metadata.labels[" + v1alpha1.LabelFleetUID + "]"
	is := in.liveFleet(in.Object.Identity)
	f := finding{reasons: diskOwned(in, is)}
	if in.Object.Identity == in.Old.Identity {
		return f
	}
	if fleet := in.liveFleet(in.Old.Identity); fleet != nil {
		f.reasons = append(f.reasons, Reason{path, fmt.Sprintf("the disk is that of %s", fleet),
			"leave the identity alone; a removed member's claim can be deleted"})
	}
	if is != nil {
		f.reasons = append(f.reasons, Reason{path, fmt.Sprintf("the disk would become that of %s, and be deleted with it", is),
			"restore a disk of the fleet by creating its claim with the label"})
	}
	return f
}

// diskOwned names the owners that somebody gives to a claim at the name of a member of a fleet.
func diskOwned(in *Input, fleet *Fleet) []Reason {
	name, ordinal, ok := memberOf(in.Object.Name)
	if !ok || fleet == nil || fleet.Terminating || fleet.Name != name || fleet.Kind != v1alpha1.KindPersistentFleet {
		return nil
	}
	var reasons []Reason
	for _, o := range ownersByHand(in) {
		reasons = append(reasons, Reason{"metadata.ownerReferences",
			fmt.Sprintf("an owner (%s) would take the disk of %s, a member of %s, with it", o, render.PodName(name, ordinal), fleet),
			"remove the reference: disks of members have none"})
	}
	return reasons
}

// claimDeleted: by somebody who has to be asked. The namespace controller and the garbage collector finish what others
// began, and the healer has looked.
func claimDeleted(in *Input) bool {
	return isClaim(in, Delete) && in.Old.Identity != "" && !in.Old.Terminating && !in.byHealer() && !in.byControlPlane()
}

func claimDeleteNeeds(in *Input) Needs {
	_, _, ok := render.ParseClaimName(in.Old.Name)
	return Needs{Fleets: ok, Workload: ok, Live: ok}
}

// claimDelete keeps the disks of current members, by the workload's count or the fleet's. All members of a fleet that is
// stopped, or whose workload is not there yet or new, are current: they come back on their disks.
func claimDelete(in *Input) finding {
	name, ordinal, ok := render.ParseClaimName(in.Old.Name)
	if !ok {
		return finding{}
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.Old.Identity)
	if fleet == nil || fleet.Terminating || fleet.Name != name || fleet.Kind != v1alpha1.KindPersistentFleet {
		return finding{}
	}
	if why := in.Facts.Workload.unknown("the StatefulSet"); why != "" {
		return dontKnow(why)
	}
	if members := max(in.Facts.Workload.Value.Replicas, fleet.Replicas); ordinal >= int(members) {
		return finding{}
	}
	return deny("metadata.name", fmt.Sprintf("is the disk of %s, a member of %s", render.PodName(name, ordinal), fleet),
		"the healer replaces a disk that is lost or a member that cannot come back; to remove the member, lower spec.replicas of the fleet")
}
