// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/render"
)

// partUpdated: a change of what is rendered beside the workload. People may put the identity on objects of their own; what
// has no seal is not guarded.
func partUpdated(in *Input) bool {
	return in.is([]Operation{Update}, Budgets, NetworkPolicies, Services, HTTPRoutes, Ingresses) &&
		in.Old.Identity != "" && in.Old.SealText != ""
}

func sealedWritten(in *Input) bool { return workloadWritten(in) || partUpdated(in) }

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
	if in.Operation == Update && len(unsealed(in)) > 0 {
		return liveFleets(in)
	}
	return Needs{}
}

// sealed admits what render printed, what it printed plus what another admission plugin added, and what changes nothing.
// A fleet that is gone has no use for its seals.
func sealed(in *Input) finding {
	reasons := unsealed(in)
	if len(reasons) == 0 || in.Operation == Create {
		return finding{reasons: reasons}
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	if in.liveFleet(in.workloadIdentity()) == nil {
		return finding{}
	}
	return finding{reasons: reasons}
}

// unsealed returns what is wrong with the seal of a write. The write is admitted when
//
//  1. nothing changes of what a seal covers, the seal included, but that keys go which render never set;
//  2. the whole matches the seal: it is exactly what render printed, or repairs it;
//  3. render's own fields match the seal, and the object is new, or rendered anew, or had other ones: another admission
//     plugin added something to a fresh render or to a repair. With the same seal over the same fields it is a policy that
//     wakes up later, and would restart members.
func unsealed(in *Input) []Reason {
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
	case in.Old == nil:
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
	return claimed.Full == seal.Full ||
		claimed.Owned == seal.Owned && (in.Old == nil || in.Old.SealText != in.Object.SealText || !intact(in.Old))
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
