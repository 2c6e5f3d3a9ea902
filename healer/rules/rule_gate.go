// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/fleetwright/fleetwright/api/v1alpha1"

// liftGates lets the scheduler have the Pods of an Ordered BucketFleet: in Strict mode in the zone of their ordinal, in
// Relaxed mode anywhere. It goes on while the fleet is paused, since a Pod that is recreated meanwhile has to return.
func liftGates(l *look) Verdict {
	if l.Fleet.Persistent || !l.Fleet.Ordered() {
		return passes()
	}
	if r := l.Reservation; r == nil || r.Identity != l.Fleet.Identity || r.Rival != "" {
		return passes() // a member that starts writes to the bucket
	}
	var targets []Ref
	var zones []string
	for i := range l.Members {
		m := &l.Members[i]
		if m.Pod == nil || !m.Pod.Gated || !m.Pod.Ours || !m.Pod.Controlled || m.Pod.Terminating {
			continue
		}
		zone := ""
		if l.Fleet.Strict && len(l.Fleet.Zones) > 0 {
			zone = l.Fleet.Zones[m.Ordinal%len(l.Fleet.Zones)]
		}
		targets, zones = append(targets, m.Pod.Ref), append(zones, zone)
	}
	if len(targets) == 0 {
		return passes()
	}
	v := acts(v1alpha1.ReasonProvisioning, "giving members their zones", Action{Verb: VerbLiftGates, Targets: targets, Zones: zones})
	if l.Fleet.Paused {
		v.Reason = v1alpha1.ReasonMaintenancePaused
		return v.during(v1alpha1.PhasePaused)
	}
	return v
}
