// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/render"
)

// Whatever the cluster shows, no decision does what the design forbids. What it forbids is in forbidden_test.go.
func TestDecideNeverDoesWhatIsForbidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			s := snapshots.Draw(t, "snapshot")
			d := decideAt(t, s, noon)
			require.Empty(t, forbidden(s, d.Action, noon), "%s", summary(&d))
			status := StatusOf(s, &d, emptyStatus(), noon)
			require.Equal(t, status, StatusOf(s, &d, &status, noon.Add(time.Hour)), "the status depends on the time")
		}
	})
}

// The snapshots above reach every action, often enough to say something.
func TestSnapshotsReachEveryAction(t *testing.T) {
	seen := map[Verb]int{}
	for seed := range 6000 {
		if d := Decide(snapshots.Example(seed), policy, noon); d.Action != nil {
			seen[d.Action.Verb]++
		}
	}
	for _, verb := range []Verb{
		VerbAddFinalizer, VerbRemoveFinalizer, VerbFinishReplacement, VerbAbortReplacement, VerbDeleteWorkload, VerbDeletePod,
		VerbForceDeletePod, VerbDeleteClaims, VerbLiftGates, VerbReserve, VerbReplace, VerbScale, VerbUnmark,
	} {
		require.GreaterOrEqual(t, seen[verb], 5, "%s of %v", verb, seen)
	}
}

var snapshots = rapid.Custom(func(t *rapid.T) *Snapshot {
	g := gen{t}
	s := fleetOf(g.pick(1, 2, 3, 3, 4))
	s.Fleet.ZoneCap = g.pick(0, 1, 2)
	if g.one(6) {
		i := g.pick(0, len(s.Members)-1)
		unscheduled(i, time.Hour)(s)
		g.volume(s.Members[i].Claim)
	}
	if g.one(2) {
		g.fleet(s)
	}
	few := g.one(2) // members differ
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for i := range list {
			if !few || g.one(len(list)) {
				g.member(&list[i])
			}
		}
	}
	if s.Fleet.WorkloadKind == KindDeployment {
		for i := range s.Members {
			if p := s.Members[i].Pod; p != nil {
				s.Pods = append(s.Pods, p)
			}
		}
		s.Members, s.Removed = nil, nil
	}
	return s
})

// A gen draws what differs from a healthy fleet. Most things do not, so that rules far down the list are reached.
type gen struct{ t *rapid.T }

func (g gen) pick(of ...int) int { return rapid.SampledFrom(of).Draw(g.t, "n") }

// one in n.
func (g gen) one(n int) bool { return rapid.IntRange(1, n).Draw(g.t, "chance") == 1 }

// ago is a time around the limits that rules have, or in the future.
func (g gen) ago() time.Time {
	limits := []time.Duration{0, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour, time.Hour, 24 * time.Hour, -time.Minute}
	return noon.Add(-rapid.SampledFrom(limits).Draw(g.t, "ago") + time.Duration(g.pick(-1, 0, 0, 1)))
}

func (g gen) fleet(s *Snapshot) {
	f, w := &s.Fleet, s.Workload
	f.Paused, f.Stopped, f.Deleting, f.Finalizer = g.one(12), g.one(12), g.one(6), !g.one(12)
	f.Protected = !f.Deleting && f.Finalizer && g.one(12)
	if g.one(6) {
		s.RemovalEnded = past(g.ago(), noon)
	}
	if g.one(6) {
		s.Brake = &Brake{Max: 3, Recent: g.pick(0, 2, 3), Until: noon.Add(time.Minute), Own: g.one(2)}
		if g.one(4) {
			s.Brake.KnownAt = noon.Add(time.Second)
		}
		if g.one(2) {
			s.Brake.Waiting = []Waiting{{Own: g.one(2), Down: g.ago()}}
		}
	}
	if g.one(4) {
		s.Change = &Change{Known: g.one(2), Places: g.one(2), Fields: []string{"spec.containers[celld].image"}}
	}
	s.NoReservations = g.one(20)
	if g.one(20) {
		f.Invalid = "invalid"
	}
	if g.one(4) {
		f.Persistent, f.Kind = false, "BucketFleet"
		if g.one(3) {
			f.WorkloadKind, w.Kind = KindDeployment, KindDeployment
		}
	}
	if g.one(5) {
		s.Target = g.pick(0, 1, 2, 3, 4, 5)
	}
	if g.one(8) {
		w.Replicas = g.pick(0, 1, 2, 3, 4)
	}
	w.Identity, w.Owned, w.Terminating = g.identity(20), g.one(25), g.one(20)
	w.Observed = !g.one(20)
	if g.one(20) {
		w.SpecDigest = "other"
	}
	if g.one(10) {
		w.Ready, w.Updated, w.NextRevision = g.pick(1, 2, 3), g.pick(1, 2, 3), "rev-2"
	}
	s.resize()
	if g.one(8) || f.Deleting && g.one(2) {
		s.Workload = nil
	}
	switch g.pick(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) {
	case 1:
		s.Reservation = nil
	case 2:
		s.Reservation.Identity, s.Reservation.Terminating = g.identity(2), true
	}
	if g.one(5) {
		s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet", Found: g.one(2)}, {Kind: "NetworkPolicy", Name: "my-fleet", Found: true}}
		if g.one(4) {
			s.Prerequisites[1].Foreign = "foreign"
		}
	}
}

func (g gen) volume(c *Claim) {
	nodes := map[string]int{"a": g.pick(0, 1, 2), "b": g.pick(0, 1, 2), "c": g.pick(0, 1, 2)}
	if c.Volume = (&Volume{Local: g.one(2), Zones: []string{c.Zone}, Nodes: nodes}); g.one(6) {
		c.Volume.Unknown = "not known"
	}
}

func (g gen) identity(chance int) string {
	if !g.one(chance) {
		return ours
	}
	return rapid.SampledFrom([]string{"", theirs}).Draw(g.t, "identity")
}

func (g gen) member(m *Member) {
	if m.Pod == nil && g.one(3) {
		m.Pod = readyPod(m.Ordinal)
	}
	if m.Claim == nil && g.one(2) {
		m.Claim = boundClaim(m.Ordinal)
	}
	if g.one(12) {
		m.Pod = nil
	}
	if g.one(12) {
		m.Claim = nil
	}
	if m.Pod != nil && g.one(2) {
		g.pod(m)
	}
	if m.Claim != nil && g.one(3) {
		g.claim(m.Claim)
	}
}

func (g gen) pod(m *Member) {
	p := m.Pod
	p.Ours, p.Controlled = !g.one(20), !g.one(15)
	p.Ownerless = !p.Controlled && g.one(2)
	p.Ready, p.Transition = g.one(2), g.ago()
	if g.one(4) {
		p.Created = g.ago()
		p.Transition = later(p.Created, p.Transition)
	}
	if g.one(6) {
		p.Terminating, p.DeletedAt, p.Forced = true, g.ago(), g.one(6)
	}
	if g.one(5) {
		p.Node = ""
		if g.one(2) {
			p.Unschedulable, p.UnscheduledSince = "no node", g.ago()
		}
	}
	if g.one(8) {
		p.Seen = g.ago()
	}
	if g.one(8) {
		p.Revision = rapid.SampledFrom([]string{"rev-2", "rev-0", ""}).Draw(g.t, "revision")
		p.Proven = p.Ready || g.one(2)
	}
	p.GatesNotReady = !p.Ready && g.one(8)
	if g.one(8) {
		p.ImageWait = "container celld: ErrImagePull"
	}
	p.Gated = g.one(6)
	if g.one(8) {
		uid := rapid.SampledFrom([]string{render.ClaimName("my-fleet", m.Ordinal) + "-uid", "", "another"}).Draw(g.t, "recorded")
		p.Handover = &Handover{ClaimUID: uid}
		if !g.one(3) {
			p.Handover.Begun = &Begun{Claim: m.claimRef(), Refusals: g.pick(0, 0, 2, 3)}
			if g.one(6) {
				p.Handover.Begun.Claim.ResourceVersion = "9"
			}
		}
		p.Terminating, p.DeletedAt = p.Terminating || !g.one(3), noon
	}
}

// claimRef is the member's claim, or one that was there.
func (m *Member) claimRef() Ref {
	if m.Claim != nil {
		return m.Claim.Ref
	}
	return ref("PersistentVolumeClaim", render.ClaimName("my-fleet", m.Ordinal))
}

func (g gen) claim(c *Claim) {
	c.Marked = g.one(6)
	if g.one(6) {
		c.Finalizers = append(c.Finalizers, "example.com/backup")
	}
	c.Identity, c.Terminating = g.identity(6), g.one(4)
	switch g.pick(1, 2, 3, 4, 5) {
	case 1:
		c.Bound, c.Lost = false, true
	case 2:
		c.Bound = false
	}
	if g.one(3) {
		c.Created = g.ago()
	}
	if g.one(4) {
		c.UID = "another"
	}
}
