// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
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
//  1. nothing changes of what a seal covers, the seal included;
//  2. the whole matches the seal: it is exactly what render printed, or repairs it;
//  3. render's own fields match the seal, and the object is new, or rendered anew, or had other ones: another admission
//     plugin added something to a fresh render or to a repair. With the same seal over the same fields it is a policy that
//     wakes up later, and would restart members.
func unsealed(in *Input) []Reason {
	if in.Old != nil && in.Object.SealText == in.Old.SealText && in.Object.Seal() == in.Old.Seal() {
		return nil
	}
	claimed, err := render.ParseSeal(in.Object.SealText)
	seal := in.Object.Seal()
	switch {
	case err != nil && in.Object.SealText == "":
		err = fmt.Errorf("annotation %s is missing", v1alpha1.AnnotationSeal)
	case err != nil:
	case claimed.Full == seal.Full:
		return nil
	case claimed.Owned == seal.Owned && (in.Old == nil || in.Old.SealText != in.Object.SealText || !intact(in.Old)):
		return nil
	}
	if in.Old == nil {
		return sealedWrongly(err)
	}
	return changed(in, err)
}

// intact says that an object's own fields are as they were rendered.
func intact(o *Object) bool {
	claimed, err := render.ParseSeal(o.SealText)
	return err == nil && claimed.Owned == o.Seal().Owned
}

const sealPath = "metadata.annotations[" + v1alpha1.AnnotationSeal + "]"

func sealedWrongly(err error) []Reason {
	problem := "the object is not what was rendered: somebody, a patch of rendered objects or a mutating policy changed fields of render's own"
	if err != nil {
		problem = err.Error()
	}
	return []Reason{{sealPath, problem, "change the fleet instead, and apply what fleetwright render prints; exempt the fleet from the policy"}}
}

// maxPaths bounds how many fields a denial names.
const maxPaths = 8

// changed names what a write changed without a seal for it.
func changed(in *Input, err error) []Reason {
	paths := render.Differences(in.Old.root, in.Object.root)
	var reasons []Reason
	for _, path := range paths[:min(len(paths), maxPaths)] {
		reasons = append(reasons, Reason{path, "differs, and is rendered from the fleet", instead(path)})
	}
	if more := len(paths) - maxPaths; more > 0 {
		reasons = append(reasons, Reason{"spec", fmt.Sprintf("%d more fields differ", more), instead("")})
	}
	if err != nil && in.Old.SealText != in.Object.SealText || len(paths) == 0 {
		reasons = append(reasons, Reason{sealPath, "is not the seal of this object", "apply what fleetwright render prints"})
	}
	return reasons
}

// instead says how to do properly what a change of a path was meant to do.
func instead(path string) string {
	switch {
	case strings.HasSuffix(path, "[kubectl.kubernetes.io/restartedAt]"),
		strings.HasSuffix(path, "template.metadata.annotations"), strings.HasSuffix(path, "["+v1alpha1.AnnotationRestartToken+"]"):
		return "to restart members, change spec.maintenance.restartToken of the fleet in Git"
	case strings.HasSuffix(path, ".containers["+v1alpha1.ContainerName+"].image"):
		return "change spec.runtimeImage of the fleet in Git"
	case strings.HasSuffix(path, ".rollingUpdate.partition"), path == "spec.paused":
		return "change spec.maintenance.paused of the fleet in Git"
	case strings.Contains(path, ".resources."):
		return "change spec.resources of the fleet in Git"
	case strings.HasPrefix(path, "metadata.labels"), strings.HasPrefix(path, "metadata.annotations"):
		return "leave keys of " + strings.TrimSuffix(v1alpha1.KeyPrefix, "/") + " and app.kubernetes.io as they were rendered"
	default:
		return "edit the fleet in Git and sync what it renders to"
	}
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
	var before []string
	if in.Old != nil {
		before = in.Old.owners()
	}
	for _, o := range in.Object.owners() {
		if !slices.Contains(before, o) {
			f.reasons = append(f.reasons, Reason{"metadata.ownerReferences",
				"an owner (" + o + ") would end the object with it", "remove the reference: objects of a fleet have none"})
		}
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
