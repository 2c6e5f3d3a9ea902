// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// claimOf returns a Pod's claim, and whether it has one at all.
func (w *world) claimOf(pod *corev1.Pod) (claim *corev1.PersistentVolumeClaim, found, uses bool) {
	claim = &corev1.PersistentVolumeClaim{}
	if !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v1alpha1.DataVolume })
	}) || w.fleetIsBucket() {
		return nil, false, false
	}
	return claim, w.get(claim, "data-"+pod.Name), true
}

func (w *world) fleetIsBucket() bool {
	return w.get(&v1alpha1.BucketFleet{}, "my-fleet") || w.get(&appsv1.Deployment{}, "my-fleet")
}

// provision makes a volume for each claim whose Pod has a node.
func (w *world) provision() {
	for _, claim := range w.claims() {
		if at := claim.Annotations[rules.SelectedNode]; at != "" && claim.Status.Phase == corev1.ClaimPending {
			claim.Status.Phase = corev1.ClaimBound
			w.volumes[claim.UID] = w.zoneOf(at)
			claim.Spec.VolumeName = w.makeVolume(claim.UID, at)
			w.update(&claim)
		}
	}
}

// makeVolume makes the PersistentVolume of a claim: one that any node of the zone can use, or the node alone.
func (w *world) makeVolume(claim types.UID, node string) string {
	key, value := corev1.LabelTopologyZone, w.zoneOf(node)
	if w.localVolumes {
		key, value = corev1.LabelHostname, node
		w.hosts[claim] = node
	}
	name := "pv-" + string(claim)
	require.NoError(w.t, w.api.Create(w.ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}},
			}}},
		}}},
	}))
	return name
}

// usable reports whether a node can use the volume of a claim.
func (w *world) usable(claim types.UID, n *node) bool {
	zone := w.volumes[claim]
	return (zone == "" || zone == n.zone) && (w.hosts[claim] == "" || w.hosts[claim] == n.name)
}

// protectClaims lets a claim go once no Pod on a node uses it.
func (w *world) protectClaims() {
	for _, claim := range w.claims() {
		const finalizer = "kubernetes.io/pvc-protection"
		used := slices.ContainsFunc(w.pods(), func(p corev1.Pod) bool { return "data-"+p.Name == claim.Name && p.Spec.NodeName != "" })
		if claim.DeletionTimestamp == nil || used || !slices.Contains(claim.Finalizers, finalizer) {
			continue
		}
		claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == finalizer })
		w.update(&claim)
	}
}

// lose makes a claim Lost.
func (w *world) lose(claim string) {
	c := &corev1.PersistentVolumeClaim{}
	require.True(w.t, w.get(c, claim))
	c.Status.Phase = corev1.ClaimLost
	w.update(c)
}
