// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxNameLength of a fleet: with "-routing" and an ordinal it stays a DNS label, and claim names stay readable.
const MaxNameLength = 40

// Validate returns every error of the fleet, defaulted or not, with exact paths.
func (f *PersistentFleet) Validate() field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateMetadata(&f.ObjectMeta)
	errs = append(errs, f.Spec.FleetSpec.validate(spec)...)
	storage := spec.Child("storage")
	errs = append(errs, f.Spec.Storage.ObjectStore.validate(storage)...)
	class := storage.Child("storageClassName")
	errs = append(errs, required(class, f.Spec.Storage.StorageClassName, "the StorageClass of the members' disks", subdomain)...)
	return append(errs, wholeBytes(storage.Child("size"), f.Spec.Storage.Size, leastDisk)...)
}

// Validate returns every error of the fleet, defaulted or not, with exact paths.
func (f *BucketFleet) Validate() field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateMetadata(&f.ObjectMeta)
	errs = append(errs, f.Spec.FleetSpec.validate(spec)...)
	errs = append(errs, forbidEphemeralStorage(spec.Child("resources"), &f.Spec.Resources)...)
	storage := spec.Child("storage")
	errs = append(errs, f.Spec.Storage.ObjectStore.validate(storage)...)
	errs = append(errs, wholeBytes(storage.Child("size"), f.Spec.Storage.Size, leastDisk)...)
	errs = append(errs, oneOf(spec.Child("workload"), f.Spec.Workload, WorkloadDeployment, WorkloadOrdered)...)
	if f.Ordered() && f.Spec.Placement.MaxPerZone != nil {
		errs = append(errs, field.Forbidden(spec.Child("placement", "maxPerZone"), "is not for workload Ordered, where each ordinal has its zone: remove it"))
	}
	return errs
}

func validateMetadata(m *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	errs := validateName(path.Child("name"), m.Name)
	if m.Namespace != "" {
		errs = append(errs, match(path.Child("namespace"), m.Namespace, label)...)
	}
	errs = append(errs, validateLabels(path.Child("labels"), m.Labels)...)
	return append(errs, validateAnnotations(path.Child("annotations"), m.Annotations)...)
}

var fleetName = lazily(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

func validateName(path *field.Path, name string) field.ErrorList {
	var errs field.ErrorList
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "the fleet's name")}
	case !fleetName().MatchString(name):
		errs = append(errs, field.Invalid(path, name, "must be a DNS label that starts with a letter: lower-case letters, digits and '-'"))
	case len(name) > MaxNameLength:
		errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must have at most %d characters, has %d", MaxNameLength, len(name))))
	}
	for _, suffix := range []string{"-peers", "-routing"} {
		if strings.HasSuffix(name, suffix) {
			errs = append(errs, field.Invalid(path, name, "must not end in "+suffix+": objects of other fleets have such names"))
		}
	}
	return errs
}

// validate checks the shared part of a spec.
func (s *FleetSpec) validate(path *field.Path) field.ErrorList {
	errs := s.validateReplicas(path.Child("replicas"))
	errs = append(errs, validateImage(path.Child("runtimeImage"), s.RuntimeImage)...)
	errs = append(errs, required(path.Child("serviceAccountName"), s.ServiceAccountName,
		"the ServiceAccount with which celld reaches the bucket", subdomain)...)
	errs = append(errs, validatePullSecrets(path.Child("imagePullSecrets"), s.ImagePullSecrets)...)
	errs = append(errs, s.Placement.validate(path.Child("placement"))...)
	errs = append(errs, validateResources(path.Child("resources"), &s.Resources)...)
	errs = append(errs, inRange(path.Child("cells", "maxResident"), s.Cells.MaxResident, 1, 1_000_000)...)
	errs = append(errs, inRange(path.Child("cells", "idleEvictSeconds"), s.Cells.IdleEvictSeconds, 1, 86_400)...)
	errs = append(errs, s.Lifecycle.validate(path.Child("lifecycle"))...)
	errs = append(errs, validateEnv(path.Child("env"), s.Env)...)
	errs = append(errs, s.PodMetadata.validate(path.Child("podMetadata"))...)
	errs = append(errs, s.Telemetry.validate(path.Child("telemetry"))...)
	errs = append(errs, s.Network.validate(path.Child("network"))...)
	errs = append(errs, atMostRunes(path.Child("maintenance", "restartToken"), s.Maintenance.RestartToken, 128)...)
	errs = append(errs, oneOf(path.Child("capacity", "mode"), s.Capacity.Mode, CapacityManual)...)
	errs = append(errs, s.Routing.validate(path.Child("routing"))...)
	if s.Identity != "" {
		errs = append(errs, match(path.Child("identity"), s.Identity, identityUUID)...)
	}
	return errs
}

func (s *FleetSpec) validateReplicas(path *field.Path) field.ErrorList {
	if s.Replicas == nil {
		return field.ErrorList{field.Required(path, fmt.Sprintf("the number of members, 1 to %d", MaxMembers))}
	}
	errs := inRange(path, s.Replicas, 1, MaxMembers)
	if zones := len(s.Placement.Zones); len(errs) == 0 && int(*s.Replicas) < zones {
		errs = append(errs, field.Invalid(path, *s.Replicas, fmt.Sprintf(
			"must be at least the number of placement.zones, %d, so that no zone is left empty: raise it or remove zones", zones)))
	}
	return errs
}

func (l *Lifecycle) validate(path *field.Path) field.ErrorList {
	grace := path.Child("terminationGraceSeconds")
	errs := inRange(path.Child("shutdownSeconds"), l.ShutdownSeconds, 1, 3600)
	errs = append(errs, inRange(grace, l.TerminationGraceSeconds, 6, 3605)...)
	if len(errs) > 0 || l.ShutdownSeconds == nil || l.TerminationGraceSeconds == nil {
		return errs
	}
	if least := *l.ShutdownSeconds + GraceMargin; *l.TerminationGraceSeconds < least {
		errs = append(errs, field.Invalid(grace, *l.TerminationGraceSeconds, fmt.Sprintf(
			"must be at least shutdownSeconds + %d, here %d, so that celld ends before it is killed", GraceMargin, least)))
	}
	return errs
}

// lazily compiles an expression when it is first used: a program that starts for each render should not compile them all.
// Expressions have no large counted repetitions either, which cost the most to compile; lengths are compared in code.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// A pattern is a rule for one string; what says it in words.
type pattern struct {
	re        func() *regexp.Regexp
	maxLength int
	what      string
}

const subdomainRE = `[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`

var (
	label = pattern{lazily(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`), 63,
		"must be a DNS label: lower-case letters, digits and '-', at most 63 characters"}
	subdomain = pattern{lazily(`^` + subdomainRE + `$`), 253,
		"must be a DNS name: lower-case letters, digits, '-' and '.', at most 253 characters"}
	hostname = pattern{lazily(`^(\*\.)?` + subdomainRE + `$`), 253,
		"must be a host name in lower case, without scheme, port or path; its first label may be '*'"}
	secretKey = pattern{lazily(`^[-._a-zA-Z0-9]+$`), 253,
		"must be a Secret's key: letters, digits, '-', '_' and '.', at most 253 characters"}
	zone = pattern{lazily(`^[a-zA-Z0-9]([-a-zA-Z0-9_.]*[a-zA-Z0-9])?$`), 63,
		"must be a value of the node label topology.kubernetes.io/zone"}
	identityUUID = pattern{lazily(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`), 36,
		"must be a UUID in lower case, such as 8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"}
)

func match(path *field.Path, value string, p pattern) field.ErrorList {
	if len(value) > p.maxLength || !p.re().MatchString(value) {
		return field.ErrorList{field.Invalid(path, value, p.what)}
	}
	return nil
}

// required is match for a value that must be there; purpose says what it is for.
func required(path *field.Path, value, purpose string, p pattern) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, purpose)}
	}
	return match(path, value, p)
}

// optional is match for a value that may be empty.
func optional(path *field.Path, value string, p pattern) field.ErrorList {
	if value == "" {
		return nil
	}
	return match(path, value, p)
}

func inRange(path *field.Path, value *int32, least, most int32) field.ErrorList {
	if value == nil || (*value >= least && *value <= most) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be from %d to %d", least, most))}
}

func atMostRunes(path *field.Path, value string, most int) field.ErrorList {
	if utf8.RuneCountInString(value) > most {
		return field.ErrorList{field.TooLongCharacters(path, value, most)}
	}
	return nil
}

func atMostItems(path *field.Path, n, most int) field.ErrorList {
	if n > most {
		return field.ErrorList{field.TooMany(path, n, most)}
	}
	return nil
}

// oneOf accepts the empty value, which means the default, and the values given.
func oneOf[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if value == "" {
		return nil
	}
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

func labelValueErrors(path *field.Path, value string) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsValidLabelValue(value) {
		errs = append(errs, field.Invalid(path, value, msg))
	}
	return errs
}
