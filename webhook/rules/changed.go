// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// What is wrong with an object that its seal does not fit, in words. Why it may not pass is in sealed.go.

const sealPath = "metadata.annotations[" + v1alpha1.AnnotationSeal + "]"

// renderedKeys are the keys of this project that render sets on objects themselves.
var renderedKeys = []string{v1alpha1.LabelFleetUID, v1alpha1.LabelFleet, v1alpha1.AnnotationSeal, v1alpha1.AnnotationSpecDigest}

// foreignKeys names labels and annotations with keys of this project that render never sets, and returns the object without
// them, but for those that another object has as well. Such a key may have come while the webhook was away, and be there in
// every later request.
func foreignKeys(o, spared *Object) ([]Reason, *Object) {
	var reasons []Reason
	rest := *o
	rest.computed = nil
	rest.root = o.root.Replace("metadata", func(m *tree.Node) *tree.Node {
		for _, field := range []string{"labels", "annotations"} {
			m = m.Replace(field, func(keys *tree.Node) *tree.Node {
				return keys.Filter(func(key string, _ *tree.Node) bool {
					if !strings.HasPrefix(key, v1alpha1.KeyPrefix) || slices.Contains(renderedKeys, key) ||
						spared != nil && spared.root.Get("metadata", field, key) != nil {
						return true
					}
					reasons = append(reasons, Reason{"metadata." + field + "[" + key + "]",
						"is a key of this project that render does not set here, and breaks the seal", "remove it"})
					return false
				})
			})
		}
		return m
	})
	return reasons, &rest
}

// sealedWrongly is about an object that is created.
func sealedWrongly(o *Object, err error) Reason {
	const remedy = "change the fleet instead, and apply what fleetwright render prints; exempt the fleet from the policy"
	switch {
	case o.SealText == "":
		return Reason{sealPath, "annotation " + v1alpha1.AnnotationSeal + " is missing", remedy}
	case err != nil:
		return Reason{sealPath, err.Error(), remedy}
	default:
		return Reason{sealPath,
			"the object is not what was rendered: somebody, a patch of rendered objects or a mutating policy changed fields of render's own", remedy}
	}
}

// maxPaths bounds how many fields a denial names.
const maxPaths = 8

// changed names what a write changed without a seal for it.
func changed(in *Input, claimed seal.Seal, err error) []Reason {
	reasons, object := foreignKeys(in.Object, nil)
	anew := in.Old.SealText != in.Object.SealText
	if anew && err == nil {
		// What the new render changes differs too, and is no offence.
		return append(reasons, Reason{sealPath, "the result is not what was rendered: a mutating policy or a patch of rendered objects changed fields of " +
			"render's own, or a field that another manager owns stayed on the object",
			"compare it with what fleetwright render prints; exempt the fleet from the policy, or take that field away"})
	}
	foreign := len(reasons) > 0
	_, old := foreignKeys(in.Old, nil)
	paths := seal.Differences(old.root, object.root)
	added := err == nil && claimed.Owned == object.seal().Owned
	for _, path := range paths[:min(len(paths), maxPaths)] {
		reasons = append(reasons, changedField(path, added))
	}
	if more := len(paths) - maxPaths; more > 0 {
		reasons = append(reasons, Reason{"spec", fmt.Sprintf("%d more fields differ", more), instead("")})
	}
	if anew || len(paths) == 0 && !foreign {
		reasons = append(reasons, Reason{sealPath, "is not the seal of this object", "apply what fleetwright render prints"})
	}
	return reasons
}

// changedField says what is wrong with the change of a field. When render's own fields are as they were, the change is
// seldom meant by whoever made the request; a restart is.
func changedField(path string, added bool) Reason {
	if added && !restart(path) {
		return Reason{path, "is not render's, and was changed on the way in by a mutating policy, or by hand",
			"exempt the fleet from the policy, or let it in with the next render, for example with another spec.maintenance.restartToken"}
	}
	return Reason{path, "differs, and is rendered from the fleet", instead(path)}
}

// restart says whether a change of a path restarts members and means nothing else.
func restart(path string) bool {
	return strings.HasSuffix(path, "[kubectl.kubernetes.io/restartedAt]") || strings.HasSuffix(path, "["+v1alpha1.AnnotationRestartToken+"]")
}

// pausedBy are the fields that a pause sets.
var pausedBy = []string{
	"spec.updateStrategy.type", "spec.updateStrategy.rollingUpdate", "spec.updateStrategy.rollingUpdate.partition", "spec.paused",
}

// instead says how to do properly what a change of a path was meant to do.
func instead(path string) string {
	switch {
	case restart(path), strings.HasSuffix(path, "template.metadata.annotations"):
		return "to restart members, change spec.maintenance.restartToken of the fleet in Git"
	case strings.HasSuffix(path, ".containers["+v1alpha1.ContainerName+"].image"):
		return "change spec.runtimeImage of the fleet in Git"
	case slices.Contains(pausedBy, path):
		return "change spec.maintenance.paused of the fleet in Git"
	case strings.Contains(path, ".resources."):
		return "change spec.resources of the fleet in Git"
	case strings.HasPrefix(path, "metadata.labels"), strings.HasPrefix(path, "metadata.annotations"):
		return "leave keys of " + strings.TrimSuffix(v1alpha1.KeyPrefix, "/") + " and app.kubernetes.io as they were rendered"
	default:
		return "edit the fleet in Git and sync what it renders to"
	}
}
