// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/render"
)

// partWritten: what is rendered beside the workload is created or changed. People may put the identity on objects of their own;
// what has no seal is not guarded.
func partWritten(in *Input) bool {
	parts := []string{Budgets, NetworkPolicies, Services, HTTPRoutes, Ingresses}
	guarded := func(o *Object) bool { return o.Identity != "" && o.SealText != "" }
	return in.writes(Create, parts...) && guarded(in.Object) || in.writes(Update, parts...) && (guarded(in.Old) || guarded(in.Object))
}

func sealedWritten(in *Input) bool { return workloadWritten(in) || partWritten(in) }

// partDeleted: a deletion of what every fleet has. Routes are not meant: they go when the fleet has none any more.
func partDeleted(in *Input) bool {
	return in.is([]Operation{Delete}, Budgets, NetworkPolicies, Services) && in.Old.Identity != "" && in.Old.SealText != ""
}

// partProtected: a sync tool that may not delete a protected fleet would still take its parts away, and its policy is all
// that protects the operator API of members.
func partProtected(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.Old.Identity)
	if fleet == nil || !fleet.Protected || fleet.Terminating || in.Old.Terminating ||
		in.Old.Name != fleet.Name && in.Old.Name != render.PeerServiceName(fleet.Name) {
		return finding{}
	}
	return deny("metadata.name", fmt.Sprintf("%s has annotation %s and cannot do without this", fleet, v1alpha1.AnnotationProtect),
		"put the fleet back into Git, or remove the annotation first")
}

func sealNeeds(in *Input) Needs {
	if reasons, _ := unsealed(in); len(reasons) > 0 && !firstSealed(in) {
		return liveFleets(in)
	}
	return Needs{}
}

// firstSealed: the object had no identity before. It is refused whether or not there is a fleet yet.
func firstSealed(in *Input) bool { return in.Old == nil || in.Old.Identity == "" }

// sealed admits what render printed, what it printed plus what another admission plugin added, and what changes nothing.
// A fleet that is gone has no use for its seals.
func sealed(in *Input) finding {
	reasons, warnings := unsealed(in)
	if len(reasons) == 0 || firstSealed(in) {
		return finding{reasons: reasons, warnings: warnings}
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	if in.liveFleet(in.workloadIdentity()) == nil {
		return finding{}
	}
	return finding{reasons: reasons}
}

// unsealed returns what is wrong with the seal of a write. Fields that this version does not know count for nothing: a newer API
// server fills them in. They are warned of.
func unsealed(in *Input) (reasons []Reason, warnings []string) {
	reasons = misfits(in)
	if len(reasons) == 0 {
		return nil, nil
	}
	var unknown []string
	rest := *in
	rest.Object, unknown = in.Object.known()
	if in.Old != nil {
		var before []string
		rest.Old, before = in.Old.known()
		unknown = append(unknown, before...)
	}
	if len(unknown) == 0 {
		return reasons, nil
	}
	if reasons = misfits(&rest); len(reasons) > 0 {
		return reasons, nil
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	for _, path := range unknown[:min(len(unknown), maxPaths)] {
		warnings = append(warnings, path+": is not a field that this version of the webhook knows, and was not checked: "+
			"if the API server does not fill it in by itself, remove it")
	}
	return nil, warnings
}

// misfits returns what is wrong with the seal of a write. The write is admitted when
//
//  1. nothing changes of what a seal covers, the seal included, but that keys go which render never set;
//  2. the whole matches the seal: it is exactly what render printed, or repairs it;
//  3. render's own fields match the seal, and the object is new, or rendered anew, or had other ones: another admission
//     plugin added something to a fresh render or to a repair. With the same seal over the same fields it is a policy that
//     wakes up later, and would restart members; the healer's writes of the count have to pass all the same.
func misfits(in *Input) []Reason {
	if in.Old != nil && in.Object.SealText == in.Old.SealText && in.Object.seal() == in.Old.seal() {
		return nil
	}
	claimed, err := seal.Parse(in.Object.SealText)
	if err == nil && fits(in, claimed, in.Object.seal()) {
		return nil
	}
	foreign, rest := foreignKeys(in.Object, nil)
	switch {
	case in.Old != nil && in.Object.SealText == in.Old.SealText && in.Object.seal() == withoutGone(in).seal():
		return nil
	case len(foreign) > 0 && err == nil && fits(in, claimed, rest.seal()):
		return foreign // these keys are all that is wrong
	case firstSealed(in):
		return append(foreign, sealedWrongly(in.Object, err))
	default:
		return changed(in, claimed, err)
	}
}

// withoutGone is the old object without the foreign keys that the new one has no more.
func withoutGone(in *Input) *Object {
	_, old := foreignKeys(in.Old, in.Object)
	return old
}

// fits says whether a new object with a seal claimed of it is admitted.
func fits(in *Input, claimed, seal seal.Seal) bool {
	if claimed.Full == seal.Full {
		return true
	}
	counted := in.byHealer() && in.Old != nil && in.Object.replicas(1) != in.Old.replicas(1)
	return claimed.Owned == seal.Owned && (firstSealed(in) || counted || in.Old.SealText != in.Object.SealText || !intact(in.Old))
}

// intact says that an object's own fields are as they were rendered.
func intact(o *Object) bool {
	claimed, err := seal.Parse(o.SealText)
	return err == nil && claimed.Owned == o.seal().Owned
}

// ownerNeeds: only a change of the identity takes a look at the fleets.
func ownerNeeds(in *Input) Needs {
	if identityMoved(in) {
		return liveFleets(in)
	}
	return Needs{}
}

func identityMoved(in *Input) bool {
	return in.Operation == Update && in.Old.Identity != "" && in.Old.Identity != in.Object.Identity
}

// owner: an object belongs to its fleet by label alone. An owner reference would let the garbage collector end it, and
// another identity would hand it to another fleet.
func owner(in *Input) finding {
	var f finding
	for _, o := range in.newOwners() {
		f.reasons = append(f.reasons, Reason{"metadata.ownerReferences",
			"an owner (" + o + ") would end the object with it", "remove the reference: objects of a fleet have none"})
	}
	if !identityMoved(in) {
		return f
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		f.unknown = why
		return f
	}
	if fleet := in.liveFleet(in.Old.Identity); fleet != nil {
		f.reasons = append(f.reasons, Reason{"metadata.labels[" + v1alpha1.LabelFleetUID + "]",
			fmt.Sprintf("the object is that of %s", fleet), "leave the identity alone; to give the fleet up, delete it"})
	}
	return f
}
