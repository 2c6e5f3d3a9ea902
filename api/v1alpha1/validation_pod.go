// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// pinnedImage is [HOST[:PORT]/]PATH[:TAG]@sha256:HEX, as container runtimes read it.
var pinnedImage = lazily(`^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?/)?[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*` +
	`(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*(:([a-zA-Z0-9_][-a-zA-Z0-9_.]*))?@sha256:[a-f0-9]{64}$`)

// maxTag is the longest tag that registries take.
const maxTag = 128

func isPinned(image string) bool {
	m := pinnedImage().FindStringSubmatch(image)
	return m != nil && len(m[len(m)-1]) <= maxTag && len(image) <= 512
}

func validateImage(path *field.Path, image string) field.ErrorList {
	const remedy = "pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>"
	switch {
	case image == "":
		return field.ErrorList{field.Required(path, remedy)}
	case !strings.Contains(image, "@"):
		return field.ErrorList{field.Invalid(path, image, "has no digest, and a tag can move under a running fleet: "+remedy)}
	case !isPinned(image):
		return field.ErrorList{field.Invalid(path, image, "is not an image reference with a sha256 digest: "+remedy)}
	}
	return nil
}

func validatePullSecrets(path *field.Path, secrets []SecretReference) field.ErrorList {
	errs := atMostItems(path, len(secrets), 16)
	seen := sets.New[string]()
	for i, s := range secrets {
		p := path.Index(i).Child("name")
		errs = append(errs, required(p, s.Name, "the name of a Secret", subdomain)...)
		if seen.Has(s.Name) {
			errs = append(errs, field.Duplicate(path.Index(i), s.Name))
		}
		seen.Insert(s.Name)
	}
	return errs
}

func (p *Placement) validate(path *field.Path) field.ErrorList {
	zones := path.Child("zones")
	var errs field.ErrorList
	if len(p.Zones) == 0 {
		errs = append(errs, field.Required(zones, "1 to 6 zones that members may run in"))
	}
	errs = append(errs, atMostItems(zones, len(p.Zones), 6)...)
	for i, z := range p.Zones {
		errs = append(errs, match(zones.Index(i), z, zone)...)
		if slices.Contains(p.Zones[:i], z) {
			errs = append(errs, field.Duplicate(zones.Index(i), z))
		}
	}
	errs = append(errs, oneOf(path.Child("mode"), p.Mode, PlacementStrict, PlacementRelaxed)...)
	errs = append(errs, inRange(path.Child("maxPerZone"), p.MaxPerZone, 1, MaxMembers)...)
	if p.MaxPerZone != nil && p.Mode == PlacementRelaxed {
		errs = append(errs, field.Forbidden(path.Child("maxPerZone"), "is for mode Strict only: remove it, or set mode to Strict"))
	}
	selector := path.Child("nodeSelector")
	if _, selected := p.NodeSelector[corev1.LabelTopologyZone]; selected {
		errs = append(errs, field.Forbidden(selector.Key(corev1.LabelTopologyZone), "must not select zones: list them in placement.zones instead"))
	}
	errs = append(errs, atMostItems(selector, len(p.NodeSelector), 32)...)
	errs = append(errs, validateLabels(selector, p.NodeSelector)...)
	errs = append(errs, validateTolerations(path.Child("tolerations"), p.Tolerations)...)
	return append(errs, optional(path.Child("priorityClassName"), p.PriorityClassName, subdomain)...)
}

func validateTolerations(path *field.Path, tolerations []corev1.Toleration) field.ErrorList {
	errs := atMostItems(path, len(tolerations), 32)
	for i, t := range tolerations {
		p := path.Index(i)
		if t.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(t.Key, p.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(p.Child("operator"), t.Operator, "must be Exists when key is empty"))
		}
		errs = append(errs, oneOf(p.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)...)
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			errs = append(errs, field.Invalid(p.Child("value"), t.Value, "must be empty when operator is Exists"))
		} else {
			errs = append(errs, labelValueErrors(p.Child("value"), t.Value)...)
		}
		errs = append(errs, oneOf(p.Child("effect"), t.Effect,
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(p.Child("effect"), t.Effect, "must be NoExecute when tolerationSeconds is set"))
		}
	}
	return errs
}

func validateResources(path *field.Path, r *corev1.ResourceRequirements) field.ErrorList {
	errs := validateResourceList(path.Child("limits"), r.Limits)
	errs = append(errs, validateResourceList(path.Child("requests"), r.Requests)...)
	if len(r.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "is not supported: the fleet's Pods have no resource claims"))
	}
	for _, name := range sortedKeys(r.Requests) {
		request, p := r.Requests[name], path.Child("requests").Key(string(name))
		limit, limited := r.Limits[name]
		switch {
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(p, request.String(), "must be at most its limit, "+limit.String()))
		case !overcommitted(name) && (!limited || request.Cmp(limit) != 0):
			errs = append(errs, field.Invalid(p, request.String(), "must equal its limit: this resource cannot be overcommitted"))
		}
	}
	return errs
}

// overcommitted says whether a request may be below its limit; extended resources and huge pages may not.
func overcommitted(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

func validateResourceList(path *field.Path, list corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(list) {
		p, q := path.Key(string(name)), list[name]
		extended := strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if !overcommitted(name) && (!extended || len(validation.IsQualifiedName(string(name))) > 0) {
			errs = append(errs, field.Invalid(p, name,
				"must be cpu, memory, ephemeral-storage, hugepages-<size> or an extended resource such as vendor.example/device"))
		}
		switch {
		case name == corev1.ResourceMemory:
			errs = append(errs, wholeBytes(p, &q, leastMemory)...)
		case name == corev1.ResourceEphemeralStorage:
			errs = append(errs, wholeBytes(p, &q, "0")...)
		case q.Sign() < 0:
			errs = append(errs, field.Invalid(p, q.String(), "must not be negative"))
		case name != corev1.ResourceCPU && !whole(q):
			errs = append(errs, field.Invalid(p, q.String(), "must be a whole number"))
		}
	}
	return errs
}

// Bounds of bytes. The API server takes fractions of a byte, such as 3500m of memory, which is written for 3500M.
const (
	leastMemory = "64Mi"
	leastDisk   = "1Gi"
	mostBytes   = "64Ti"
)

func wholeBytes(path *field.Path, q *resource.Quantity, least string) field.ErrorList {
	if q == nil || q.Cmp(resource.MustParse(least)) >= 0 && q.Cmp(resource.MustParse(mostBytes)) <= 0 && whole(*q) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), "must be whole bytes, from "+least+" to "+mostBytes)}
}

// whole says whether a quantity has no fraction. One that 64 bits do not hold has none for this purpose.
func whole(q resource.Quantity) bool {
	rounded := resource.NewQuantity(q.Value(), q.Format)
	return rounded.Cmp(q) == 0
}

func forbidEphemeralStorage(path *field.Path, r *corev1.ResourceRequirements) field.ErrorList {
	_, requested := r.Requests[corev1.ResourceEphemeralStorage]
	_, limited := r.Limits[corev1.ResourceEphemeralStorage]
	if requested || limited {
		return field.ErrorList{field.Forbidden(path, "must not set ephemeral-storage: storage.size sets its request and limit")}
	}
	return nil
}

var (
	envName = lazily(`^CELLD_[A-Z0-9_]+$`)

	renderedEnv = map[string]string{
		EnvNode: "", EnvAdvertise: "", EnvBucket: "storage.bucket", EnvDurability: "", EnvAddr: "", EnvInternalAddr: "",
		EnvWatch: "", EnvTTL: "", EnvShutdownTotal: "lifecycle.shutdownSeconds", EnvTokioThreads: "",
		EnvMaxResidentCells: "cells.maxResident", EnvIdleEvict: "cells.idleEvictSeconds",
	}
	reservedEnv = []string{"CELLD_REEXEC_", "CELLD_OTEL", "CELLD_UNSAFE_", "CELLD_TEST_", "CELLD_STRICT_", "CELLD_EXPORT"}
	fatalEnv    = []string{"CELLD_SHUTDOWN_DRAIN_MS", "CELLD_DRAIN_TOKEN_WAIT_MS"}
)

func validateEnv(path *field.Path, env []EnvVar) field.ErrorList {
	errs := atMostItems(path, len(env), 32)
	seen := sets.New[string]()
	for i, e := range env {
		p := path.Index(i)
		errs = append(errs, validateEnvName(p.Child("name"), e.Name)...)
		if seen.Has(e.Name) {
			errs = append(errs, field.Duplicate(p, e.Name))
		}
		seen.Insert(e.Name)
		errs = append(errs, atMostRunes(p.Child("value"), e.Value, 4096)...)
		if e.SecretKeyRef == nil {
			continue
		}
		if e.Value != "" {
			errs = append(errs, field.Forbidden(p.Child("secretKeyRef"), "must not be set beside value: keep one of them"))
		}
		errs = append(errs, e.SecretKeyRef.validate(p.Child("secretKeyRef"))...)
	}
	return errs
}

func validateEnvName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "the variable's name, CELLD_...")}
	}
	if len(name) > 128 || !envName().MatchString(name) {
		return field.ErrorList{field.Invalid(path, name, "must be CELLD_ and upper-case letters, digits and '_', at most 128 characters")}
	}
	if instead, owned := renderedEnv[name]; owned {
		msg := "is set by Fleetwright itself and cannot be changed"
		if instead != "" {
			msg = "is set by Fleetwright itself: use spec." + instead
		}
		return field.ErrorList{field.Invalid(path, name, msg)}
	}
	if slices.Contains(fatalEnv, name) {
		return field.ErrorList{field.Invalid(path, name, "stops celld 0.6 from starting as soon as it exists: use spec.lifecycle.shutdownSeconds")}
	}
	if strings.HasPrefix(name, "CELLD_VAR_") {
		return field.ErrorList{field.Invalid(path, name, "has the prefix CELLD_VAR_, with which celld 0.5 and newer does not start: use another name")}
	}
	for _, prefix := range reservedEnv {
		if strings.HasPrefix(name, prefix) {
			msg := fmt.Sprintf("has the prefix %s, which celld reserves for itself", prefix)
			if prefix == "CELLD_OTEL" {
				msg = "is set from spec.telemetry: use its fields"
			}
			return field.ErrorList{field.Invalid(path, name, msg)}
		}
	}
	return nil
}

func (r *SecretKeyReference) validate(path *field.Path) field.ErrorList {
	errs := required(path.Child("name"), r.Name, "the name of a Secret", subdomain)
	return append(errs, required(path.Child("key"), r.Key, "a key of the Secret", secretKey)...)
}

func (m *PodMetadata) validate(path *field.Path) field.ErrorList {
	labels, annotations := path.Child("labels"), path.Child("annotations")
	errs := atMostItems(labels, len(m.Labels), 32)
	errs = append(errs, validateLabels(labels, m.Labels)...)
	errs = append(errs, forbidKeys(labels, m.Labels, LabelAppName, LabelManagedBy)...)
	errs = append(errs, atMostItems(annotations, len(m.Annotations), 32)...)
	errs = append(errs, validateAnnotations(annotations, m.Annotations)...)
	return append(errs, forbidKeys(annotations, m.Annotations, AnnotationDefaultContainer)...)
}

func forbidKeys(path *field.Path, m map[string]string, names ...string) field.ErrorList {
	var errs field.ErrorList
	for _, k := range sortedKeys(m) {
		if strings.HasPrefix(k, KeyPrefix) || slices.Contains(names, k) {
			errs = append(errs, field.Forbidden(path.Key(k), "is set by Fleetwright itself: use another key"))
		}
	}
	return errs
}

func validateLabels(path *field.Path, m map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, k := range sortedKeys(m) {
		errs = append(errs, metav1validation.ValidateLabelName(k, path.Key(k))...)
		errs = append(errs, labelValueErrors(path.Key(k), m[k])...)
	}
	return errs
}

// maxAnnotations is the API server's limit for all annotations of an object, keys included.
const maxAnnotations = 256 * 1024

func validateAnnotations(path *field.Path, m map[string]string) field.ErrorList {
	var errs field.ErrorList
	total := 0
	for _, k := range sortedKeys(m) {
		errs = append(errs, metav1validation.ValidateLabelName(strings.ToLower(k), path.Key(k))...)
		total += len(k) + len(m[k])
	}
	if total > maxAnnotations {
		errs = append(errs, field.TooLong(path, "", maxAnnotations))
	}
	return errs
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
