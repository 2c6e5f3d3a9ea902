// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// preferredWeight is the highest that the scheduler knows.
const preferredWeight = 100

func (b *builder) strict() bool { return b.spec.Placement.Mode == v1alpha1.PlacementStrict }

// zoneGated says whether the healer, not the spread, gives each ordinal its zone.
func (b *builder) zoneGated() bool {
	return b.fleet.Kind() == v1alpha1.KindBucketFleet && b.fleet.Ordered()
}

// affinity keeps members in the fleet's zones and off each other's hosts.
func (b *builder) affinity() *corev1.Affinity {
	apart := corev1.PodAffinityTerm{LabelSelector: b.labelSelector(), TopologyKey: corev1.LabelHostname}
	hosts := &corev1.PodAntiAffinity{}
	if b.strict() {
		hosts.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{apart}
	} else {
		hosts.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{
			{Weight: preferredWeight, PodAffinityTerm: apart},
		}
	}
	return &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: b.spec.Placement.Zones},
				{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
			}}},
		}},
		PodAntiAffinity: hosts,
	}
}

// spread distributes members over the zones. The hard spread caps what a zone holds: while there are fewer zones than minDomains,
// and there always are, the scheduler takes the emptiest zone for 0, so no zone that is away, cordoned or full keeps a member off
// a disk in another. The soft one evens out below the cap, and has nothing to do where that is 1.
//
// The hard one comes first: client-side apply merges both by their key alone, into the first of what is stored.
func (b *builder) spread() []corev1.TopologySpreadConstraint {
	if b.zoneGated() && b.strict() {
		return nil
	}
	most, capped := v1alpha1.ZoneCap(b.fleet)
	if !capped {
		return []corev1.TopologySpreadConstraint{b.evenly()}
	}
	hard := b.evenly()
	hard.MaxSkew = int32(most) //nolint:gosec // at most 100
	hard.WhenUnsatisfiable = corev1.DoNotSchedule
	hard.MinDomains = ptrTo(int32(len(b.spec.Placement.Zones) + 1)) //nolint:gosec // at most 7
	if most == 1 {
		return []corev1.TopologySpreadConstraint{hard}
	}
	return []corev1.TopologySpreadConstraint{hard, b.evenly()}
}

// evenly prefers the zone that holds the fewest members.
func (b *builder) evenly() corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew:            1,
		TopologyKey:        corev1.LabelTopologyZone,
		WhenUnsatisfiable:  corev1.ScheduleAnyway,
		LabelSelector:      b.labelSelector(),
		NodeAffinityPolicy: ptrTo(corev1.NodeInclusionPolicyHonor),
		NodeTaintsPolicy:   ptrTo(corev1.NodeInclusionPolicyHonor),
	}
}
