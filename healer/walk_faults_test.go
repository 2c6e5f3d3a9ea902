// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const backup = "backup.example.com/snapshot"

// walkFaults are what may happen on a walk, each as often as its weight says.
var walkFaults = []struct {
	weight  int
	happens func(k *walk)
}{
	// Nodes and zones.
	{2, func(k *walk) { k.kills(k.node().name, "kill-node") }},
	{1, func(k *walk) {
		name := k.node().name
		k.kills(name, "cut-off-node")
		k.settle(100 * time.Second)
		k.kills(name, "revive-node")
	}},
	{3, func(k *walk) { k.kills(k.node().name, "revive-node") }},
	{1, func(k *walk) {
		zone := k.node().zone
		for _, n := range k.nodes {
			if n.zone == zone {
				k.kills(n.name, "kill-node")
			}
		}
	}},
	{2, func(k *walk) { k.note("all nodes are back"); k.nodesBack() }},
	{2, func(k *walk) {
		n := k.node()
		n.cordoned = !n.cordoned
		k.note("%s is cordoned: %v", n.name, n.cordoned)
	}},
	{1, func(k *walk) {
		n := k.node()
		n.clock = time.Duration(k.rand.IntN(23)-11) * time.Minute
		k.note("the clock of %s is %s ahead", n.name, n.clock)
	}},
	{1, func(k *walk) {
		k.noVolumes = !k.noVolumes
		k.note("provisioning fails: %v", k.noVolumes)
	}},
	// Members and their disks.
	{3, func(k *walk) {
		member := k.member()
		k.note("%s breaks", member)
		k.broken[k.disk(member)] = corev1.ContainerStateWaiting{Reason: k.pick("CrashLoopBackOff", "ImagePullBackOff")}
	}},
	{3, func(k *walk) {
		k.note("all are mended")
		clear(k.broken)
		clear(k.gates)
	}},
	{1, func(k *walk) {
		member := k.member()
		k.note("the readiness gate of %s is not met", member)
		k.gates[member] = corev1.ConditionFalse
	}},
	{1, func(k *walk) { k.deletePod(k.member()) }},
	{1, func(k *walk) { k.deleteClaim(k.member()) }},
	{1, func(k *walk) { k.loses(k.member(), false) }},
	{1, func(k *walk) { k.loses(k.member(), true) }},
	{1, func(k *walk) {
		if member := k.member(); k.get(&corev1.Pod{}, member) {
			k.note("%s is evicted", member)
			k.world.end(member, corev1.PodFailed)
		}
	}},
	{1, func(k *walk) { k.holdClaim(k.member()) }},
	{1, func(k *walk) {
		k.ending = []time.Duration{0, 25 * time.Second}[k.rand.IntN(2)]
		k.note("members take %s to end", k.ending)
	}},
	// What people and their tools do.
	{2, func(k *walk) { k.changes(fmt.Sprintf("spec: {replicas: %d}", 3+k.rand.IntN(3))) }},
	{1, func(k *walk) { k.changes("spec: {maintenance: {paused: " + k.pick("true", "false", "false") + "}}") }},
	{1, func(k *walk) { k.changes("spec: {maintenance: {stopped: " + k.pick("true", "false", "false") + "}}") }},
	{1, func(k *walk) { k.changes(fmt.Sprintf("spec: {maintenance: {restartToken: \"%d\"}}", k.wrote)) }},
	{2, func(k *walk) { k.note("sync"); k.sync("") }},
	{1, func(k *walk) {
		k.bad["fatal"], k.bad["new"] = badSetting{reason: "CrashLoopBackOff"}, badSetting{reason: "CrashLoopBackOff", usedOnly: true}
		k.changes("spec: {env: [{name: CELLD_LOG, value: " + k.pick("fatal", "new", "info") + "}]}")
		k.sync("")
	}},
	{1, func(k *walk) { k.changes("spec: {placement: {nodeSelector: {disk: nvme-typo}}}"); k.sync("") }},
	{2, func(k *walk) { k.changes("spec: {env: [], placement: {nodeSelector: null}}"); k.sync("") }},
	{1, func(k *walk) {
		if set := k.set(); set != nil && set.DeletionTimestamp == nil {
			k.note("the StatefulSet is deleted, and applied again later")
			k.remove(set, nil, k.rand.IntN(2) == 0)
		}
	}},
	// The control plane, and the healer.
	{2, func(k *walk) {
		what := k.pick("delete PersistentVolumeClaim *", "delete Pod *", "apply StatefulSet *", "apply Deployment *", "patch Pod *", "create Pod *")
		how := k.pick("forbidden", "conflict")
		k.note("answer %s %s", what, how)
		k.setAnswer(what, how)
	}},
	{3, func(k *walk) {
		k.note("the API server takes all writes, and backups are done")
		clear(k.answers)
		k.letClaimsGo()
	}},
	{2, func(k *walk) {
		model := k.pick("scheduler", "scheduler", "statefulset", "deployment")
		k.halted[model] = !k.halted[model]
		k.note("the %s is down: %v", model, k.halted[model])
	}},
	{1, func(k *walk) {
		k.note("the caches stop, or start")
		if k.frozen = nil; k.rand.IntN(2) == 0 {
			k.freeze()
		}
	}},
	{2, func(k *walk) {
		fault, after := k.pick("stop", "lose", "fail"), k.rand.IntN(6)
		k.note("%s after %d", fault, after)
		k.interrupt(fault, after)
	}},
	{1, func(k *walk) {
		if k.late != nil {
			k.note("a late write arrives")
			k.arrives()
		}
	}},
}

func (k *walk) kills(name, how string) {
	k.note("%s %s", how, name)
	k.kill(name, how)
}

func (k *walk) changes(patch string) {
	k.note("%s", patch)
	k.applyFleet(patch)
}

func (k *walk) deletePod(name string) {
	pod := &corev1.Pod{}
	if !k.get(pod, name) {
		return
	}
	k.note("Pod %s is deleted", name)
	k.remove(pod, nil, false)
}

func (k *walk) deleteClaim(member string) {
	claim := &corev1.PersistentVolumeClaim{}
	if !k.get(claim, "data-"+member) || claim.DeletionTimestamp != nil {
		return
	}
	k.note("the claim of %s is deleted", member)
	k.remove(claim, nil, false)
}

// loses takes a volume away, or only its record.
func (k *walk) loses(member string, record bool) {
	if !k.get(&corev1.PersistentVolumeClaim{}, "data-"+member) {
		return
	}
	k.note("the volume of %s is lost, or only its record: %v", member, record)
	k.mounted[types.UID(k.disk(member))] = record
	k.lose("data-" + member)
}

// holdClaim lets a backup hold a claim.
func (k *walk) holdClaim(member string) {
	claim := &corev1.PersistentVolumeClaim{}
	if k.get(claim, "data-"+member) && claim.DeletionTimestamp == nil {
		k.note("a backup holds the claim of %s", member)
		claim.Finalizers = append(claim.Finalizers, backup)
		k.update(claim)
	}
}

func (k *walk) letClaimsGo() {
	for _, claim := range k.claims() {
		left := slices.DeleteFunc(slices.Clone(claim.Finalizers), func(f string) bool { return f == backup })
		if len(left) < len(claim.Finalizers) {
			claim.Finalizers = left
			k.update(&claim)
		}
	}
}

// nodesBack makes every node as it should be.
func (k *walk) nodesBack() {
	for _, n := range k.nodes {
		k.kill(n.name, "revive-node")
		n.cordoned, n.clock = false, 0
	}
}
