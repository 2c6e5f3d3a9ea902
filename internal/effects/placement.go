// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Placement returns what a change of a fleet does to where its members run: the part of Of that an admission warning repeats.
func Placement(before, after v1alpha1.Fleet) []Effect {
	var c Change
	c.placement(before, after)
	return c.Effects
}

func (c *Change) placement(before, after v1alpha1.Fleet) {
	c.zones(before, after)
	c.nodes(before, after)
}

// nodes tells of members that find fewer nodes than before: by node labels, taints or how many a zone may hold. A change that only
// opens nodes moves nobody.
func (c *Change) nodes(before, after v1alpha1.Fleet) {
	was, is := before.Shared().Placement, after.Shared().Placement
	if stopped(before) || stopped(after) {
		return
	}
	for _, whom := range []string{selected(was.NodeSelector, is.NodeSelector), untolerated(was.Tolerations, is.Tolerations)} {
		switch {
		case whom == "":
		case persistent(after):
			c.add("moves", "%s, if they find no other in the zone of their disk: %s", whom, suspected)
		default:
			c.add("moves", "%s; one that finds no other waits, and the rollout waits for it", whom)
		}
	}
	most, capped := v1alpha1.ZoneCap(after)
	mostBefore, wasCapped := v1alpha1.ZoneCap(before)
	switch {
	case !capped || wasCapped && most >= mostBefore:
		return
	case wasCapped:
	case persistent(after):
		c.add("moves", "members that share a host: %s", suspected)
	default:
		c.add("moves", "members that share a host, to other nodes")
	}
	c.add("limits", "each zone to %s; refused while one holds more", members(most))
}

// suspected is what the healer does with members whose new template keeps them off their nodes.
const suspected = "the first one that finds no node keeps its disk, and the fleet is Blocked (RolloutStuck) until the change is reverted or repaired; " +
	"once a member has been Ready with the change, each of the others gets a fresh disk after the replacement delay, " +
	"in Strict mode only where another zone has room for it"

// selected names the members that a selector with more or other labels keeps off their nodes.
func selected(was, is map[string]string) string {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if value, before := was[key]; !before || value != is[key] {
			labels = append(labels, key+"="+is[key])
		}
	}
	switch len(labels) {
	case 0:
		return ""
	case 1:
		return "members on nodes without the label " + labels[0]
	default:
		return "members on nodes without the labels " + strings.Join(labels, " and ")
	}
}

// untolerated names the members that the loss of a toleration keeps off their nodes.
func untolerated(was, is []corev1.Toleration) string {
	var taints []string
	for _, t := range was {
		covered := func(by corev1.Toleration) bool { return covers(&by, &t) }
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(is, covered) {
			taints = append(taints, taintsOf(&t))
		}
	}
	if len(taints) == 0 {
		return ""
	}
	return "members on nodes with the taint " + strings.Join(taints, " or ")
}

// covers reports whether one toleration admits every taint that the other one does.
func covers(by, t *corev1.Toleration) bool {
	key := by.Key == t.Key || by.Key == "" && by.Operator == corev1.TolerationOpExists
	value := by.Operator == corev1.TolerationOpExists || t.Operator != corev1.TolerationOpExists && by.Value == t.Value
	return key && value && (by.Effect == "" || by.Effect == t.Effect)
}

// taintsOf writes the taints that a toleration admits as kubectl writes a taint.
func taintsOf(t *corev1.Toleration) string {
	text := t.Key
	if text == "" {
		text = "of any key"
	}
	if t.Operator != corev1.TolerationOpExists {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	return text
}
