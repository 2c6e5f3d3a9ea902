// SPDX-License-Identifier: Apache-2.0

package webhook

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
)

// A Rule judges some requests. It reads nothing but the Input.
type Rule struct {
	// Name is the rule's in metrics and logs.
	Name string
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

// rules is the policy, in order. All that apply judge a request; the order is that of metrics and of reading.
func rules() []Rule {
	return []Rule{
		// fleet.go
		{Name: "fleet-valid", applies: fleetWritten, judge: fleetValid},
		{Name: "fleet-immutable", applies: fleetChanged, judge: fleetImmutable},
		// Open: without the facts the healer still makes no second reservation for a bucket, and starts nothing without one.
		{Name: "fleet-bucket", applies: fleetWritten, needs: fleetBucketNeeds, judge: fleetBucket},
		{Name: "fleet-protected", applies: fleetDeleted, judge: fleetProtected},
		{Name: "fleet-advice", applies: fleetAdvised, needs: fleetAdviceNeeds, judge: fleetAdvice},
		// workload.go
		{Name: "workload-owner", closed: true, applies: workloadWritten, needs: ownerNeeds, judge: owner},
		{Name: "workload-replicas", closed: true, applies: workloadScaled, needs: replicasNeeds, judge: replicas},
		{Name: "workload-fleet", closed: true, applies: workloadCreated, needs: workloadFleetNeeds, judge: workloadFleet},
		{Name: "workload-disks", closed: true, applies: workloadCreated, needs: workloadDisksNeeds, judge: workloadDisks},
		{Name: "workload-orphans", closed: true, applies: workloadCreated, needs: workloadOrphansNeeds, judge: workloadOrphans},
		{Name: "workload-delete", closed: true, applies: workloadDeleted, needs: liveFleets, judge: workloadDelete},
		// sealed.go; a changed template restarts members, hence closed
		{Name: "seal", closed: true, applies: sealedWritten, needs: sealNeeds, judge: sealed},
		{Name: "sealed-owner", closed: true, applies: partUpdated, needs: ownerNeeds, judge: owner},
		{Name: "part-protected", closed: true, applies: partDeleted, needs: liveFleets, judge: partProtected},
		// claim.go
		// Open: the healer names a foreign claim and adds no member on it.
		{Name: "claim-create", applies: claimCreated, needs: cachedFleets, judge: claimCreate},
		{Name: "claim-identity", closed: true, applies: claimMoved, needs: liveFleets, judge: claimIdentity},
		{Name: "claim-delete", closed: true, applies: claimDeleted, needs: claimDeleteNeeds, judge: claimDelete},
		// reservation.go
		{Name: "reservation", closed: true, applies: reservationTouched, judge: reservation},
	}
}

// RuleNames lists the rules in order, for metrics that start at zero.
func RuleNames() []string {
	all := rules()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
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
