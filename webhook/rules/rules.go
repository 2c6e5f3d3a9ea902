// SPDX-License-Identifier: Apache-2.0

package rules

// Resources that are guarded.
const (
	PersistentFleets = "persistentfleets"
	BucketFleets     = "bucketfleets"
	Reservations     = "storagereservations"
	StatefulSets     = "statefulsets"
	Deployments      = "deployments"
	Budgets          = "poddisruptionbudgets"
	NetworkPolicies  = "networkpolicies"
	Services         = "services"
	HTTPRoutes       = "httproutes"
	Ingresses        = "ingresses"
	Claims           = "persistentvolumeclaims"
	Definitions      = "customresourcedefinitions"
	Namespaces       = "namespaces"
)

// Resources lists all that are guarded.
func Resources() []string {
	return []string{PersistentFleets, BucketFleets, Reservations, StatefulSets, Deployments, Budgets, NetworkPolicies, Services,
		HTTPRoutes, Ingresses, Claims, Definitions, Namespaces}
}

// A rule judges some requests. It reads nothing but the Input.
type rule struct {
	// name is the rule's in metrics and logs.
	name string
	// closed rules refuse, with an error to retry, when a fact is unknown: what they guard is destructive. The others admit
	// with a warning.
	closed bool

	applies func(*Input) bool
	// needs says which facts judge reads. It is as lazy as the request allows; nil means none.
	needs func(*Input) Needs
	judge func(*Input) finding
}

// A finding is what a rule has to say about a request.
type finding struct {
	reasons  []Reason
	warnings []string
	unknown  string // why the rule cannot tell
}

func deny(field, problem, remedy string) finding {
	return finding{reasons: []Reason{{Field: field, Problem: problem, Remedy: remedy}}}
}

func dontKnow(why string) finding { return finding{unknown: why} }

// ordered is the policy, in order. All that apply judge a request; the order is that of metrics and of reading.
func ordered() []rule {
	return []rule{
		// fleet.go and placement.go
		{name: "fleet-size", applies: fleetUnread, judge: fleetSize},
		{name: "fleet-valid", applies: fleetWritten, judge: fleetValid},
		{name: "fleet-cap", applies: fleetWritten, judge: fleetCap},
		{name: "fleet-scale", applies: fleetScaled, needs: liveFleets, judge: fleetScale},
		{name: "fleet-immutable", applies: fleetChanged, judge: fleetImmutable},
		// Open: without the facts the healer still makes no second reservation for a bucket, and starts nothing without one.
		{name: "fleet-bucket", applies: fleetWritten, needs: fleetBucketNeeds, judge: fleetBucket},
		{name: "fleet-protected", applies: fleetDeleted, judge: fleetProtected},
		{name: "fleet-orphan", applies: fleetDeleted, judge: fleetOrphan},
		{name: "fleet-advice", applies: fleetAdvised, needs: fleetAdviceNeeds, judge: fleetAdvice},
		// workload.go
		{name: "workload-owner", closed: true, applies: workloadWritten, needs: ownerNeeds, judge: owner},
		{name: "workload-replicas", closed: true, applies: workloadScaled, needs: replicasNeeds, judge: replicas},
		{name: "workload-fleet", closed: true, applies: workloadCreated, needs: workloadFleetNeeds, judge: workloadFleet},
		{name: "workload-bucket", closed: true, applies: workloadMoved, needs: liveFleets, judge: workloadBucket},
		{name: "workload-disks", closed: true, applies: workloadCreated, needs: workloadDisksNeeds, judge: workloadDisks},
		{name: "workload-orphans", closed: true, applies: workloadCreated, needs: workloadOrphansNeeds, judge: workloadOrphans},
		{name: "workload-delete", closed: true, applies: workloadDeleted, needs: liveFleets, judge: workloadDelete},
		// sealed.go; a changed template restarts members, hence closed
		{name: "seal", closed: true, applies: sealedWritten, needs: sealNeeds, judge: sealed},
		{name: "sealed-owner", closed: true, applies: partWritten, needs: ownerNeeds, judge: owner},
		{name: "part-protected", closed: true, applies: partDeleted, needs: liveFleets, judge: partProtected},
		// claim.go
		// Open: the healer names a foreign claim and adds no member on it.
		{name: "claim-create", applies: claimCreated, needs: cachedFleets, judge: claimCreate},
		{name: "claim-identity", closed: true, applies: claimMoved, needs: liveFleets, judge: claimIdentity},
		{name: "claim-delete", closed: true, applies: claimDeleted, needs: claimDeleteNeeds, judge: claimDelete},
		// reservation.go
		{name: "reservation", closed: true, applies: reservationTouched, judge: reservation},
		// whole.go
		{name: "definition-delete", closed: true, applies: definitionDeleted, needs: definitionNeeds, judge: definitionDelete},
		// Open: the namespace's end is the end of its fleets, which their owners may want while no webhook answers.
		{name: "namespace-delete", applies: namespaceDeleted, needs: liveFleets, judge: namespaceDelete},
	}
}

// Names lists the rules in order, for metrics that start at zero.
func Names() []string {
	all := ordered()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

func cachedFleets(*Input) Needs { return Needs{Fleets: true} }

// liveFleets is for rules that a fleet which the cache has not seen yet, or has seen otherwise, would turn from a denial
// into a passing one.
func liveFleets(*Input) Needs { return Needs{Fleets: true, Live: true} }

// liveFleet returns the fleet of the request's namespace with an identity, nil when there is none.
func (in *Input) liveFleet(identity string) *Fleet {
	if identity == "" {
		return nil
	}
	for i := range in.Facts.Fleets.Value {
		if f := &in.Facts.Fleets.Value[i]; f.Identity == identity {
			return f
		}
	}
	return nil
}
