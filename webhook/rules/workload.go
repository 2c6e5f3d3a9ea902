// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func isWorkload(in *Input, operation Operation) bool {
	return in.writes(operation, StatefulSets, Deployments)
}

// workloadCreated: a workload is created, or one that is there first gets an identity.
func workloadCreated(in *Input) bool {
	return isWorkload(in, Create) && in.Object.Identity != "" || isWorkload(in, Update) && in.Object.Identity != "" && in.Old.Identity == ""
}

func workloadWritten(in *Input) bool {
	return (isWorkload(in, Create) || isWorkload(in, Update)) && in.labelled()
}

func workloadDeleted(in *Input) bool {
	return isWorkload(in, Delete) && in.labelled()
}

// labelled says that the object carries an identity, or did.
func (in *Input) labelled() bool {
	return in.Object != nil && in.Object.Identity != "" || in.Old != nil && in.Old.Identity != ""
}

// workloadScaled: a count that is set or changed, on the object or through its scale subresource.
func workloadScaled(in *Input) bool {
	switch {
	case in.byHealer():
		return false
	case in.Subresource == "scale":
		return in.Operation == Update && slices.Contains([]string{StatefulSets, Deployments}, in.Resource) && in.scaleIdentity() != "" &&
			in.Object.replicas(0) != in.Old.replicas(0)
	case workloadCreated(in):
		return in.Object.replicas(1) != 1
	default:
		return isWorkload(in, Update) && in.Old.Identity != "" && in.Object.replicas(1) != in.Old.replicas(1)
	}
}

// scaleIdentity is the identity in the selector of a Scale, which carries no labels. The old object's is the server's own.
func (in *Input) scaleIdentity() string {
	for part := range strings.SplitSeq(in.Old.root.GetText("status", "selector"), ",") {
		if id, ok := strings.CutPrefix(part, v1alpha1.LabelFleetUID+"="); ok {
			return id
		}
	}
	return ""
}

func (in *Input) workloadIdentity() string {
	switch {
	case in.Subresource == "scale":
		return in.scaleIdentity()
	case in.Old != nil && in.Old.Identity != "":
		return in.Old.Identity
	default:
		return in.Subject().Identity
	}
}

func replicasNeeds(in *Input) Needs {
	if !workloadCreated(in) {
		return liveFleets(in)
	}
	disks := in.Object.claimsDisks()
	return Needs{Claims: disks, Fleets: disks, Live: disks}
}

// replicas: the healer alone changes the count, since it knows which disks are there and which members are settled.
func replicas(in *Input) finding {
	if workloadCreated(in) {
		return replicasAtCreation(in)
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.workloadIdentity())
	missing := int64(1)
	if in.Subresource == "scale" {
		missing = 0 // a Scale leaves zero out
	}
	was, is := in.Old.replicas(missing), in.Object.replicas(missing)
	if fleet == nil || fleet.Paused && is == 0 {
		return finding{}
	}
	return deny("spec.replicas", fmt.Sprintf("only the healer changes it, here from %d to %d", was, is),
		fmt.Sprintf("set spec.replicas of %s in Git, and remove what scales its workload; with maintenance.paused it can be set to 0", fleet))
}

// replicasAtCreation: a workload starts with one member, and the healer adds the others. A restored one may have as many as
// have kept disks: the healer would bring those back in one step too. So it may when no member has a disk, and none while the
// fleet is stopped.
func replicasAtCreation(in *Input) finding {
	count := in.Object.replicas(1)
	possible := count >= 0 && count <= v1alpha1.MaxMembers
	if possible && !in.Object.claimsDisks() {
		return finding{}
	}
	if why := in.Facts.Claims.unknown("the members' claims"); why != "" {
		return dontKnow(why)
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.Object.Identity)
	if possible && (count > 0 && keptDisks(in) >= int(count) || count == 0 && fleet != nil && fleet.Stopped) {
		return finding{}
	}
	return deny("spec.replicas", fmt.Sprintf("is %d; a workload starts with 1 member, and the healer adds the others", count),
		"leave spec.replicas out, as render does, and set it on the fleet")
}

// keptDisks counts the first ordinals that all have a claim of the workload's identity.
func keptDisks(in *Input) int {
	ours := map[string]bool{}
	for _, c := range in.Facts.Claims.Value {
		ours[c.Name] = c.Identity == in.Object.Identity
	}
	n := 0
	for n < v1alpha1.MaxMembers && ours[render.ClaimName(in.Object.Name, n)] {
		n++
	}
	return n
}

// workloadFleetNeeds: fleets are live, since a second workload beside that of a fleet would write its bucket; who else is on the
// bucket is read from the cache.
func workloadFleetNeeds(*Input) Needs { return Needs{Fleets: true, Bucket: true, Live: true} }

// workloadFleet: nothing starts for a fleet that is going, nor on a bucket that is another's, nor beside the fleet's own workload. A
// sync may apply the workload before its fleet; then every fleet on the bucket was there first.
func workloadFleet(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	me := Fleet{Namespace: in.Namespace, Name: in.Object.Name, Identity: in.Object.Identity, Bucket: in.bucket()}
	fleet := in.liveFleet(me.Identity)
	if fleet != nil && fleet.Terminating {
		return deny("metadata.labels["+v1alpha1.LabelFleetUID+"]", fmt.Sprintf("%s is being deleted", fleet),
			"remove the workload from Git together with the fleet, or sync again once the fleet is gone")
	}
	if f := beside(in, fleet); len(f.reasons) > 0 {
		return f
	}
	if me.Bucket == (v1alpha1.BucketURL{}) {
		return finding{} // the seal tells about it
	}
	remedy := "create the fleet with a bucket or prefix of its own"
	if fleet != nil {
		me, remedy = *fleet, "delete the fleet and create it anew with a bucket or prefix of its own"
	}
	by, unknown := bucketTaken(in, me, fleet == nil)
	f := finding{unknown: unknown}
	for _, t := range by {
		r := Reason{"spec.template", t.problem, remedy}
		if t.reserved != "" {
			r.Remedy += ", or with spec.identity " + t.reserved + " to take the other over"
		}
		f.reasons = append(f.reasons, r)
	}
	return f
}

// beside refuses a second workload of a fleet: under another name, or of another kind. Its seal says only that some fleet renders
// to it.
func beside(in *Input, fleet *Fleet) finding {
	disks := in.Object.claimsDisks()
	switch {
	case fleet == nil:
		return finding{}
	case fleet.Name != in.Object.Name:
		return deny("metadata.name", fmt.Sprintf("the identity is that of %s, whose workload has its name", fleet),
			"delete that fleet first, or give this one another spec.identity")
	case in.Object.Huge: // the seal tells about it
		return finding{}
	case fleet.Workload != in.Resource || disks != (fleet.Kind == v1alpha1.KindPersistentFleet):
		want := map[string]string{StatefulSets: "a StatefulSet", Deployments: "a Deployment"}[fleet.Workload]
		if fleet.Workload == in.Resource {
			want = "one whose members have disks"
			if disks {
				want = "one whose members have no disks"
			}
		}
		return deny("kind", fmt.Sprintf("the workload of %s is %s", fleet, want),
			"apply what the live fleet renders to; to change its kind or workload, delete it first, and sync again once it is gone")
	default:
		return finding{}
	}
}

// bucketSettings are the variables that say where a fleet's data is.
var bucketSettings = []string{v1alpha1.EnvBucket, v1alpha1.EnvAWSRegion, v1alpha1.EnvAzureAccount}

// workloadMoved: what a workload is first to say about its bucket, or says otherwise than before.
func workloadMoved(in *Input) bool {
	if !workloadWritten(in) || in.Object.env(v1alpha1.EnvBucket) == "" {
		return false
	}
	differs := func(name string) bool { return in.Object.env(name) != in.Old.env(name) }
	return workloadCreated(in) || slices.ContainsFunc(bucketSettings, differs)
}

// workloadBucket keeps members on the bucket of the live fleet: a seal says only that some fleet renders to the template.
func workloadBucket(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.workloadIdentity())
	if fleet == nil || fleet.Terminating {
		return finding{}
	}
	account := ""
	if fleet.Bucket.Scheme == v1alpha1.SchemeAzure {
		account = fleet.Bucket.Store
	}
	var f finding
	for i, want := range []string{fleet.Bucket.String(), fleet.Region, account} {
		name := bucketSettings[i]
		is := in.Object.env(name)
		if name == v1alpha1.EnvBucket {
			is = in.bucketOf(is).String()
		}
		if is != want {
			f.reasons = append(f.reasons, Reason{"spec.template.spec.containers[" + v1alpha1.ContainerName + "].env[" + name + "].value",
				fmt.Sprintf("is %q, and that of %s is %q", is, fleet, want), "apply what the live fleet renders to; its bucket cannot be changed"})
		}
	}
	return f
}

func workloadDisksNeeds(in *Input) Needs {
	disks := in.Object.claimsDisks()
	return Needs{Claims: disks, Fleets: disks, Live: disks}
}

// workloadDisks: a member would start on a disk that holds another fleet's data, or anybody's. Beyond the members that are asked
// for, the healer looks before it adds one.
func workloadDisks(in *Input) finding {
	if !in.Object.claimsDisks() {
		return finding{}
	}
	if why := in.Facts.Claims.unknown("the members' claims"); why != "" {
		return dontKnow(why)
	}
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	members := in.Object.replicas(1)
	if fleet := in.liveFleet(in.Object.Identity); fleet != nil {
		members = max(members, int64(fleet.Replicas))
	}
	var f finding
	for _, c := range in.Facts.Claims.Value {
		if _, ordinal, ok := memberOf(c.Name); c.Identity == in.Object.Identity || !ok || int64(ordinal) >= members {
			continue
		}
		has, mine := "no identity", "restore the claim with the label "+v1alpha1.LabelFleetUID+": "+in.Object.Identity
		if c.Identity != "" {
			has, mine = "identity "+c.Identity, "create the fleet, deleted first if it is there, with spec.identity "+c.Identity
		}
		f.reasons = append(f.reasons, Reason{"spec.volumeClaimTemplates",
			fmt.Sprintf("%s: claim %s is at a member's name and has %s, not %s", v1alpha1.ReasonStorageIdentityConflict, c.Name, has, in.Object.Identity),
			"if it is this fleet's disk, " + mine + "; else delete the claim, or create the fleet under another name"})
	}
	return f
}

func workloadOrphansNeeds(in *Input) Needs { return Needs{Orphans: in.Resource == StatefulSets} }

// workloadOrphans: a new StatefulSet adopts Pods that match it, and removes at once all that are beyond its count.
func workloadOrphans(in *Input) finding {
	if in.Resource != StatefulSets {
		return finding{}
	}
	if why := in.Facts.Orphans.unknown("the Pods without a controller"); why != "" {
		return dontKnow(why)
	}
	var f finding
	for _, pod := range in.Facts.Orphans.Value {
		fleet, ordinal, ok := render.ParsePodName(pod)
		if !ok || fleet != in.Object.Name || ordinal == 0 || int64(ordinal) < in.Object.replicas(1) {
			continue
		}
		f.reasons = append(f.reasons, Reason{"spec.replicas",
			fmt.Sprintf("Pod %s still runs without a controller; this StatefulSet would adopt it and remove it together with the others", pod),
			"delete these Pods one at a time, the highest ordinal first, then sync again; their disks are kept"})
	}
	return f
}

// workloadDelete: members end when their fleet is deleted, by the healer and in order.
func workloadDelete(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleet"); why != "" {
		return dontKnow(why)
	}
	fleet := in.liveFleet(in.Old.Identity)
	if fleet == nil || fleet.Name != in.Old.Name || fleet.Workload != in.Resource {
		return finding{}
	}
	var f finding
	if !fleet.Terminating && !in.Old.Terminating {
		f.reasons = append(f.reasons, Reason{"metadata.name", fmt.Sprintf("%s is live, and this runs all of its members", fleet),
			"delete the fleet, or set maintenance.stopped to end its members and keep their disks"})
	}
	if in.Orphan {
		f.reasons = append(f.reasons, Reason{"propagationPolicy", "Orphan leaves members running that nothing controls",
			"delete the fleet and let the healer delete its workload"})
	}
	return f
}
