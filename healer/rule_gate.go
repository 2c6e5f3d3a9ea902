// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// liftGates lets the scheduler have the Pods of an Ordered BucketFleet: in Strict mode in the zone of their ordinal, in
// Relaxed mode anywhere. It goes on while the fleet is paused, since a Pod that is recreated meanwhile has to return.
func liftGates(s *Snapshot, _ Policy, _ time.Time) *Decision {
	if s.Fleet.Persistent || !s.Fleet.Ordered() {
		return nil
	}
	if r := s.Reservation; r == nil || r.Identity != s.Fleet.Identity || r.Rival != "" {
		return nil // a member that starts writes to the bucket
	}
	var targets []Ref
	var zones []string
	for i := range s.Members {
		m := &s.Members[i]
		if m.Pod == nil || !m.Pod.Gated || !m.Pod.Ours || !m.Pod.Controlled || m.Pod.Terminating {
			continue
		}
		zone := ""
		if s.Fleet.Strict && len(s.Fleet.Zones) > 0 {
			zone = s.Fleet.Zones[m.Ordinal%len(s.Fleet.Zones)]
		}
		targets, zones = append(targets, m.Pod.Ref), append(zones, zone)
	}
	if len(targets) == 0 {
		return nil
	}
	d := provisioning(v1alpha1.ReasonProvisioning, "giving members their zones")
	if s.Fleet.Paused {
		d.during(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
	}
	return d.act(Action{Verb: VerbLiftGates, Targets: targets, Zones: zones})
}
