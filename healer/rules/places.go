// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Volume is where a claim's volume can be used, and where a fresh one could be.
type Volume struct {
	// Unknown is why that is not known, empty when it is.
	Unknown string
	// Local says that the volume is bound to its node, so that a fresh one in the same zone helps.
	Local bool
	// Zones that the volume can be used in. They may be empty where it is Local.
	Zones []string
	// Nodes counts the nodes in each zone of the fleet, without the one that a Local volume is bound to.
	Nodes map[string]int
}

// volumes reads where the disk of the one member can be used that is down and finds no node, since a fresh one might find none
// either. An error fails nothing: what is not known keeps a disk.
func (o *Observer) volumes(ctx context.Context, _ v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	var m *Member
	for i := range s.Current() {
		if !s.Members[i].Down() {
			continue
		}
		if m != nil {
			return nil // nobody is replaced while two are down
		}
		m = &s.Members[i]
	}
	if s.Fleet.ZoneCap == 0 || s.Fleet.Deleting || m == nil || m.Pod == nil || m.Pod.Node != "" || m.Pod.Unschedulable == "" ||
		!m.Claim.Kept() || m.Claim.VolumeName == "" {
		return nil
	}
	volume, found, err := read[*corev1.PersistentVolume](ctx, o.ByName, KindVolume, "", m.Claim.VolumeName)
	m.Claim.Volume = &Volume{Unknown: fmt.Sprintf("PersistentVolume %s could not be read", m.Claim.VolumeName)}
	if err == nil && found {
		m.Claim.Volume = o.volume(ctx, volume, m.Claim, s.Fleet.Zones)
	}
	return nil
}

func (o *Observer) volume(ctx context.Context, volume *corev1.PersistentVolume, claim *Claim, zones []string) *Volume {
	v, bound := volumeValues(volume, claim)
	if v.Unknown != "" {
		return v
	}
	v.Nodes = map[string]int{}
	for _, zone := range zones {
		if o.Nodes == nil {
			v.Unknown = "the nodes are not known"
			break
		}
		names, err := o.Nodes(ctx, zone)
		if err != nil {
			v.Unknown = fmt.Sprintf("the nodes of zone %s could not be listed", zone)
			break
		}
		names = slices.DeleteFunc(names, func(name string) bool { return v.Local && slices.Contains(bound, name) })
		v.Nodes[zone] = len(names)
	}
	return v
}

// volumeValues takes the node affinity of a volume apart. Topology keys of all drivers end in /zone or /region for disks that any
// node there can use; with another key, such as kubernetes.io/hostname, a volume belongs to the nodes that it returns.
func volumeValues(volume *corev1.PersistentVolume, claim *Claim) (v *Volume, nodes []string) {
	v, nodes = &Volume{Local: true}, []string{claim.Node}
	var terms []corev1.NodeSelectorTerm
	if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
		terms = a.Required.NodeSelectorTerms
	}
	if len(terms) == 0 {
		return &Volume{Unknown: fmt.Sprintf("PersistentVolume %s is bound to no zone and no node", volume.Name)}, nil
	}
	for i := range terms {
		local, zonal := false, false
		for _, e := range slices.Concat(terms[i].MatchExpressions, terms[i].MatchFields) {
			switch {
			case strings.HasSuffix(e.Key, "/zone"):
				zonal = true
				v.Zones = append(v.Zones, e.Values...)
			case strings.HasSuffix(e.Key, "/region"):
			default:
				local = true
				nodes = append(nodes, e.Values...)
			}
		}
		if v.Local = v.Local && local; !local && !zonal {
			return &Volume{Unknown: fmt.Sprintf("PersistentVolume %s is bound to no zone and no node", volume.Name)}, nil
		}
	}
	v.Zones = slices.DeleteFunc(append(v.Zones, claim.Zone), func(zone string) bool { return zone == "" })
	slices.Sort(v.Zones)
	v.Zones = slices.Compact(v.Zones)
	if len(v.Zones) == 0 && !v.Local {
		v.Unknown = fmt.Sprintf("the zone of PersistentVolume %s is not known", volume.Name)
	}
	return v, nodes
}

// hasPlace reports whether a member has a node, or a fresh disk would have one. Below the cap of a zone and on a node of its own,
// beside all other members: one that is on no node needs its place in the zone of its disk again, and a fresh disk that waits for a
// place takes that of the next member whose Pod is made anew. Where a change is suspected, that keeps the disk.
func (l *look) hasPlace(m *Member) bool {
	if l.Fleet.ZoneCap == 0 || m.Pod.Node != "" || l.suspected(m) {
		return true
	}
	v := m.Claim.Volume
	return v != nil && v.Unknown == "" && slices.ContainsFunc(l.Fleet.Zones, func(zone string) bool {
		return (v.Local || !slices.Contains(v.Zones, zone)) && l.othersIn(zone, m) < min(l.Fleet.ZoneCap, v.Nodes[zone])
	})
}

// othersIn counts the other members in a zone, with those whose zone is not known.
func (l *look) othersIn(zone string, but *Member) int {
	n := 0
	for i := range l.current {
		m := &l.current[i]
		in := ""
		switch {
		case m.Ordinal == but.Ordinal:
			continue
		case m.Pod != nil && m.Pod.Node != "":
			in = m.Pod.Zone
		case m.Claim != nil:
			in = m.Claim.Zone
		}
		if in == "" || in == zone {
			n++
		}
	}
	return n
}

// noPlace says why a member that finds no node keeps its disk, and what to do.
func (m *Member) noPlace() string {
	v := m.Claim.Volume
	if v == nil || v.Unknown != "" {
		why := "where its disk can be used is not known"
		if v != nil {
			why = v.Unknown
		}
		return why + ", so its disk is kept; see MemberUnschedulable in docs/operations.md"
	}
	where, back := "no zone", "bring its node back, or add one beside it"
	if !v.Local {
		where, back = "no other zone", "give it a node in "+strings.Join(v.Zones, " or ")
	}
	return fmt.Sprintf("its disk is kept, since a fresh one has no place: %s has both a node to spare and room under placement.maxPerZone. "+
		"To end this, %s; or give another zone a node to spare and, if it is full, raise placement.maxPerZone; "+
		"or give the disk up (docs/operations.md, Lose a zone)", where, back)
}
