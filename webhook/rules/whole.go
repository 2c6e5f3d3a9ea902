// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// What ends many fleets at once: their definition, or their namespace. Neither asks anybody about the fleets themselves.

// OurDefinitions are the names of the definitions of fleets and reservations.
func OurDefinitions() []string {
	names := []string{PersistentFleets, BucketFleets, Reservations}
	for i := range names {
		names[i] += "." + v1alpha1.GroupVersion.Group
	}
	return names
}

// DefinedKind is the kind that the request's definition defines.
func (in *Input) DefinedKind() string {
	return in.Old.root.GetText("spec", "names", "kind")
}

func definitionDeleted(in *Input) bool {
	return in.is([]Operation{Delete}, Definitions) && slices.Contains(OurDefinitions(), in.Old.Name) && !in.Old.Terminating
}

func definitionNeeds(*Input) Needs { return Needs{Instances: true} }

// definitionDelete: the API server deletes every object of a definition that is deleted, without admission.
func definitionDelete(in *Input) finding {
	if why := in.Facts.Instances.unknown("whether there is any " + in.DefinedKind()); why != "" {
		return dontKnow(why)
	}
	switch {
	case !in.Facts.Instances.Value:
		return finding{}
	case strings.HasPrefix(in.Old.Name, Reservations):
		return deny("metadata.name", "deleting the definition deletes every StorageReservation: no bucket would be kept for its fleet any more",
			"keep it; the break-glass procedure says how to give up all buckets")
	default:
		return deny("metadata.name", fmt.Sprintf("deleting the definition deletes every %s, with its members and their disks", in.DefinedKind()),
			"delete the fleets first, each for itself")
	}
}

func namespaceDeleted(in *Input) bool {
	return in.is([]Operation{Delete}, Namespaces) && !in.Old.Terminating
}

// namespaceDelete: nothing is protected in a namespace that is going.
func namespaceDelete(in *Input) finding {
	if why := in.Facts.Fleets.unknown("the fleets of the namespace"); why != "" {
		return dontKnow(why)
	}
	var f finding
	for _, fleet := range in.Facts.Fleets.Value {
		if fleet.Protected {
			f.reasons = append(f.reasons, Reason{"metadata.name",
				fmt.Sprintf("%s has annotation %s, and would be deleted with its members and disks", fleet, v1alpha1.AnnotationProtect),
				"remove the annotation from the fleet first"})
		}
	}
	return f
}
