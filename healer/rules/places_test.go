// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// capped lets a zone hold so many members, and makes the disk of the second one that of zone b, with nodes beside its own.
func capped(most, a, b, c int) change {
	return func(s *Snapshot) {
		s.Fleet.ZoneCap = most
		s.Members[1].Claim.Volume = &Volume{Zones: []string{"b"}, Nodes: map[string]int{"a": a, "b": b, "c": c}}
	}
}

func volumeOf(do func(*Volume)) change { return claim(1, func(c *Claim) { do(c.Volume) }) }

// A member that finds no node, in a fleet whose zones have a cap, keeps its disk unless a fresh one has a place.
func TestPlaceForAFreshDisk(t *testing.T) {
	const (
		kept  = "report: Blocked/MemberUnschedulable; next in 30s"
		since = "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available; "
		full  = "both a node to spare and room under placement.maxPerZone. To end this, "
		rest  = "; or give another zone a node to spare and, if it is full, raise placement.maxPerZone; or give the disk up (docs/operations.md, Lose a zone)"
	)
	local := volumeOf(func(v *Volume) { v.Local, v.Zones = true, nil })
	cases := map[string]ruleCase{}
	add := func(name, want, message string, changes ...change) {
		cases[name] = ruleCase{change: append([]change{unscheduled(1, fullDelay)}, changes...), want: want, message: message}
	}
	add("every other zone at the cap", kept,
		since+"its disk is kept, since a fresh one has no place: no other zone has "+full+"give it a node in b"+rest, capped(1, 9, 0, 9))
	add("room, and no node to spare", kept, "", capped(2, 1, 0, 1))
	add("room, and a node to spare", replaceNow, "", capped(2, 1, 0, 2))
	add("before the delay", "report: Provisioning/WaitingForPlacement; next in 1ns", "", capped(1, 9, 0, 9), unscheduled(1, almostTen))
	add("no cap", replaceNow, "", capped(0, 0, 0, 0))
	add("a zone that nobody is in", replaceNow, "", capped(1, 1, 0, 1), fleetIs(func(f *Fleet) { f.Zones = append(f.Zones, "d") }),
		volumeOf(func(v *Volume) { v.Nodes["d"] = 1 }))
	add("a zone that nobody is in, without a node", kept, "", capped(1, 1, 0, 1), fleetIs(func(f *Fleet) { f.Zones = append(f.Zones, "d") }))
	add("a zone that is not the fleet's", kept, "", capped(1, 1, 0, 1), volumeOf(func(v *Volume) { v.Nodes["d"] = 1 }))
	add("its own zone, where a fresh disk fares no better", kept, "", capped(1, 1, 9, 1))
	add("its own zone, which is not the fleet's any more", replaceNow, "", capped(1, 1, 0, 1), volumeOf(func(v *Volume) {
		v.Zones, v.Nodes["b"] = []string{"d"}, 1
	}))
	add("a disk of two zones", kept, since+"its disk is kept, since a fresh one has no place: no other zone has "+full+"give it a node in a or b"+rest,
		capped(2, 9, 9, 1), volumeOf(func(v *Volume) { v.Zones = []string{"a", "b"} }))
	add("a disk of its node, and another node in its zone", replaceNow, "", capped(1, 1, 1, 1), local)
	add("a disk of its node, and no other node in its zone", kept,
		since+"its disk is kept, since a fresh one has no place: no zone has "+full+"bring its node back, or add one beside it"+rest,
		capped(1, 9, 0, 9), local)
	add("another member whose zone is not known may be in any", kept, "", capped(1, 1, 1, 1), local, pod(2, func(p *Pod) { p.Zone = "" }))
	add("another member in the place that was free", kept, "", capped(1, 1, 1, 0), local, pod(2, func(p *Pod) { p.Zone = "b" }))
	add("the disk's zone is not known", kept, since+"the zone of PersistentVolume pv is not known, so its disk is kept; see MemberUnschedulable in docs/operations.md",
		capped(2, 9, 9, 9), volumeOf(func(v *Volume) { v.Unknown = "the zone of PersistentVolume pv is not known" }))
	add("nobody looked where the disk can be used", "report: Blocked/MemberUnschedulable",
		since+"where its disk can be used is not known, so its disk is kept; see MemberUnschedulable in docs/operations.md",
		capped(2, 9, 9, 9), claim(1, func(c *Claim) { c.Volume = nil }))
	add("a change of its template is suspected first", "replacement: Blocked/RolloutStuck", "", capped(1, 9, 0, 9), onNext(1),
		differs(true, "spec.nodeSelector"))
	cases["on a node, however full the zones are"] = ruleCase{change: []change{capped(1, 0, 0, 0), down(1, fullDelay)}, want: replaceNow}
	runRules(t, cases)
}

// A hand-over whose Pod was deleted is finished only if the fresh disk still has a place.
func TestHandoverNeedsAPlace(t *testing.T) {
	runRules(t, map[string]ruleCase{
		"a place": {
			change: []change{unscheduled(1, fullDelay), capped(2, 2, 0, 0), handedOver(1)},
			want:   "finished-replacement: FinishReplacement my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; ReplacementFinished",
		},
		"no place by now": {
			change: []change{unscheduled(1, fullDelay), capped(2, 1, 0, 1), handedOver(1)},
			want:   "held-replacement: AbortReplacement my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; ReplacementAborted",
		},
	})
}

func handedOver(i int) change {
	return func(s *Snapshot) {
		m := &s.Members[i]
		m.Pod.Handover = &Handover{ClaimUID: m.Claim.UID, Begun: &Begun{Claim: m.Claim.Ref}}
		m.Pod.Terminating, m.Pod.DeletedAt = true, noon
	}
}

// Only a Strict fleet with disks of its own has zones whose cap a fresh disk could exceed.
func TestFleetsWithACap(t *testing.T) {
	persistent := func(p v1alpha1.Placement) v1alpha1.Fleet {
		f := &v1alpha1.PersistentFleet{}
		f.Spec.Placement = p
		return f
	}
	require.Equal(t, v1alpha1.DefaultMaxPerZone, FleetValues(persistent(v1alpha1.Placement{})).ZoneCap)
	require.Equal(t, 3, FleetValues(persistent(v1alpha1.Placement{MaxPerZone: new(int32(3))})).ZoneCap)
	require.Zero(t, FleetValues(persistent(v1alpha1.Placement{Mode: v1alpha1.PlacementRelaxed})).ZoneCap)
	require.Zero(t, FleetValues(&v1alpha1.BucketFleet{}).ZoneCap)
}

// Where a volume can be used is read from its node affinity, by the keys of all drivers.
func TestVolumeValues(t *testing.T) {
	type expressions map[string][]string
	of := func(terms ...expressions) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		for _, term := range terms {
			var t corev1.NodeSelectorTerm
			for key, values := range term {
				t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
			}
			v.Spec.NodeAffinity.Required.NodeSelectorTerms = append(v.Spec.NodeAffinity.Required.NodeSelectorTerms, t)
		}
		return v
	}
	anywhere := &Volume{Unknown: "PersistentVolume pv is bound to no zone and no node"}
	for name, c := range map[string]struct {
		volume *corev1.PersistentVolume
		zone   string // of the node that it was provisioned for
		want   *Volume
	}{
		"a zone":                      {of(expressions{"topology.ebs.csi.aws.com/zone": {"b"}}), "b", &Volume{Zones: []string{"b"}}},
		"a zone whose node is gone":   {of(expressions{corev1.LabelTopologyZone: {"b"}}), "", &Volume{Zones: []string{"b"}}},
		"a zone in the driver's word": {of(expressions{"example.com/zone": {"zone-2"}}), "b", &Volume{Zones: []string{"b", "zone-2"}}},
		"a zone and its region": {
			of(expressions{corev1.LabelTopologyZone: {"b"}, corev1.LabelTopologyRegion: {"here"}}), "b", &Volume{Zones: []string{"b"}},
		},
		"two zones in one term": {of(expressions{"topology.gke.io/zone": {"b", "a"}}), "b", &Volume{Zones: []string{"a", "b"}}},
		"two zones in two terms": {
			of(expressions{"topology.gke.io/zone": {"b"}}, expressions{"topology.gke.io/zone": {"a"}}), "", &Volume{Zones: []string{"a", "b"}},
		},
		"a zone without a name": {
			of(expressions{"topology.disk.csi.azure.com/zone": {""}}), "", &Volume{Unknown: "the zone of PersistentVolume pv is not known", Zones: []string{}},
		},
		"a zone without a name, and its node": {of(expressions{"topology.disk.csi.azure.com/zone": {""}}), "b", &Volume{Zones: []string{"b"}}},
		"a node":                              {of(expressions{corev1.LabelHostname: {"host-b"}}), "", &Volume{Local: true, Zones: []string{}}},
		"a node and its zone": {
			of(expressions{"topology.hostpath.csi/node": {"host-b"}, corev1.LabelTopologyZone: {"b"}}), "b", &Volume{Local: true, Zones: []string{"b"}},
		},
		"a node, or any of a zone": {
			of(expressions{corev1.LabelHostname: {"host-b"}}, expressions{corev1.LabelTopologyZone: {"a"}}), "", &Volume{Zones: []string{"a"}},
		},
		"a region alone":         {of(expressions{corev1.LabelTopologyRegion: {"here"}}), "b", anywhere},
		"a term of nothing":      {of(expressions{}), "b", anywhere},
		"no terms":               {of(), "b", anywhere},
		"no affinity, as of NFS": {&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}, "b", anywhere},
	} {
		t.Run(name, func(t *testing.T) {
			got, nodes := volumeValues(c.volume, &Claim{Node: "node-1", Zone: c.zone})
			require.Equal(t, c.want, got)
			if got.Unknown == "" {
				require.Contains(t, nodes, "node-1")
			}
			if got.Local {
				require.Contains(t, nodes, "host-b")
			}
		})
	}
}

// The PersistentVolume is read of the one member that is down and finds no node, and of nobody in a fleet that is well. What cannot be
// read is not known, and fails nothing.
func TestVolumesAreReadWhenTheyDecide(t *testing.T) {
	const name = "pv-1"
	bound := []change{func(s *Snapshot) { s.Fleet.ZoneCap = 1 }, claim(1, func(c *Claim) { c.VolumeName, c.Node = name, "host-b" })}
	hostname := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	hostname.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Values: []string{"host-b"}}},
	}}}}
	pair := func(_ context.Context, zone string) ([]string, error) {
		return []string{"host-" + zone, "spare-" + zone}, nil
	}
	unread := &Volume{Unknown: "PersistentVolume pv-1 could not be read"}
	for title, c := range map[string]struct {
		change []change
		volume *corev1.PersistentVolume
		nodes  func(context.Context, string) ([]string, error)
		err    error
		reads  int
		want   *Volume
	}{
		"all Ready":               {},
		"down on its node":        {change: []change{down(1, fullDelay)}},
		"not tried yet":           {change: []change{pending(1, fullDelay)}},
		"a fresh claim":           {change: []change{unscheduled(1, fullDelay), claim(1, func(c *Claim) { c.Bound = false })}},
		"a Lost claim":            {change: []change{unscheduled(1, fullDelay), claim(1, func(c *Claim) { c.Lost = true })}},
		"no claim":                {change: []change{unscheduled(1, fullDelay), noClaim(1)}},
		"no cap":                  {change: []change{unscheduled(1, fullDelay), fleetIs(func(f *Fleet) { f.ZoneCap = 0 })}},
		"another is down as well": {change: []change{unscheduled(1, fullDelay), down(2, 0)}},
		"no workload":             {change: []change{unscheduled(1, fullDelay), func(s *Snapshot) { s.Workload = nil }}},
		"no node":                 {[]change{unscheduled(1, fullDelay)}, hostname, pair, nil, 1, &Volume{Local: true, Zones: []string{"b"}, Nodes: map[string]int{"a": 2, "b": 1, "c": 2}}},
		"no volume":               {[]change{unscheduled(1, fullDelay)}, nil, pair, nil, 1, unread},
		"no right to read it":     {[]change{unscheduled(1, fullDelay)}, nil, pair, errors.New("forbidden"), 1, unread},
		"nodes that nobody knows": {[]change{unscheduled(1, fullDelay)}, hostname, nil, nil, 1, &Volume{Unknown: "the nodes are not known"}},
		"nodes that cannot be listed": {[]change{unscheduled(1, fullDelay)}, hostname, func(context.Context, string) ([]string, error) {
			return nil, errors.New("not synced")
		}, nil, 1, &Volume{Unknown: "the nodes of zone a could not be listed"}},
	} {
		t.Run(title, func(t *testing.T) {
			s := healthy(append(bound, c.change...)...)
			from := &oneVolume{volume: c.volume, err: c.err}
			o := &Observer{ByName: from, Nodes: c.nodes}
			require.NoError(t, o.volumes(t.Context(), nil, s, time.Time{}))
			require.Equal(t, c.reads, from.reads)
			if m := &s.Members[1]; m.Claim != nil && (c.want == nil || c.want.Unknown == "") {
				require.Equal(t, c.want, m.Claim.Volume)
			} else if m.Claim != nil {
				require.Equal(t, c.want.Unknown, m.Claim.Volume.Unknown)
			}
		})
	}
}

// oneVolume has one PersistentVolume, and counts who asks for it.
type oneVolume struct {
	Objects
	volume *corev1.PersistentVolume
	err    error
	reads  int
}

func (o *oneVolume) Get(context.Context, string, string, string) (Object, bool, error) {
	o.reads++
	return o.volume, o.volume != nil, o.err
}
