// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (c *Capacity) validate(path *field.Path, replicas *int32) field.ErrorList {
	errs := oneOf(path.Child("mode"), c.Mode, CapacityManual, CapacityShadow, CapacityScaleOut, CapacityAutomatic, CapacityExternal)
	most := path.Child("maxReplicas")
	errs = append(errs, inRange(most, c.MaxReplicas, 1, MaxMembers)...)
	if c.Mode.Adds() && replicas != nil && c.MaxReplicas != nil && *c.MaxReplicas < *replicas {
		errs = append(errs, field.Invalid(most, *c.MaxReplicas, fmt.Sprintf(
			"must be at least spec.replicas, %d, the fewest members that the policy leaves", *replicas)))
	}
	errs = append(errs, c.CPU.validate(path.Child("cpu"), "1m", "1000")...)
	errs = append(errs, c.Memory.validate(path.Child("memory"), "1Mi", "1Ti")...)
	out, in, sampling := path.Child("scaleOut"), path.Child("scaleIn"), path.Child("sampling")
	errs = append(errs, inRange(out.Child("step"), c.ScaleOut.Step, 1, 10)...)
	errs = append(errs, inRange(out.Child("stabilizationSeconds"), c.ScaleOut.StabilizationSeconds, 10, 3600)...)
	errs = append(errs, inRange(out.Child("cooldownSeconds"), c.ScaleOut.CooldownSeconds, 30, 86_400)...)
	errs = append(errs, inRange(in.Child("stabilizationSeconds"), c.ScaleIn.StabilizationSeconds, 60, 86_400)...)
	errs = append(errs, inRange(in.Child("cooldownSeconds"), c.ScaleIn.CooldownSeconds, 60, 86_400)...)
	errs = append(errs, c.Sampling.validate(sampling)...)
	errs = append(errs, inRange(path.Child("provisioningTimeoutSeconds"), c.ProvisioningTimeoutSeconds, 60, 86_400)...)
	return append(errs, inRange(path.Child("redistributionSeconds"), c.RedistributionSeconds, 30, 3600)...)
}

func (r *LoadRange) validate(path *field.Path, least, most string) field.ErrorList {
	high, low := path.Child("high"), path.Child("low")
	var errs field.ErrorList
	if (r.High == nil) != (r.Low == nil) {
		errs = append(errs, field.Required(high, "must be set together with low: both, or neither"))
	}
	bound := func(path *field.Path, q *resource.Quantity) {
		if q != nil && (q.Cmp(resource.MustParse(least)) < 0 || q.Cmp(resource.MustParse(most)) > 0) {
			errs = append(errs, field.Invalid(path, q.String(), fmt.Sprintf("must be from %s to %s", least, most)))
		}
	}
	bound(high, r.High)
	bound(low, r.Low)
	if r.High != nil && r.Low != nil && r.Low.Cmp(*r.High) >= 0 {
		errs = append(errs, field.Invalid(low, r.Low.String(), "must be below high, "+r.High.String()))
	}
	return errs
}

func (s *Sampling) validate(path *field.Path) field.ErrorList {
	interval, window := path.Child("intervalSeconds"), path.Child("minWindowSeconds")
	errs := inRange(interval, s.IntervalSeconds, 5, 300)
	errs = append(errs, inRange(path.Child("maxAgeSeconds"), s.MaxAgeSeconds, 10, 600)...)
	errs = append(errs, inRange(path.Child("minSamples"), s.MinSamples, 2, 100)...)
	errs = append(errs, inRange(window, s.MinWindowSeconds, 1, 60)...)
	errs = append(errs, inRange(path.Child("maxWindowSeconds"), s.MaxWindowSeconds, 5, 300)...)
	if every, age := orDefault(s.IntervalSeconds, DefaultSamplingInterval), orDefault(s.MaxAgeSeconds, DefaultSamplingMaxAge); 2*int64(every) > int64(age) {
		errs = append(errs, field.Invalid(interval, every, fmt.Sprintf("must be at most half of maxAgeSeconds, %d", age)))
	}
	if least, most := orDefault(s.MinWindowSeconds, DefaultMinWindow), orDefault(s.MaxWindowSeconds, DefaultMaxWindow); least > most {
		errs = append(errs, field.Invalid(window, least, fmt.Sprintf("must be at most maxWindowSeconds, %d", most)))
	}
	return errs
}

func orDefault(value *int32, otherwise int32) int32 {
	if value == nil {
		return otherwise
	}
	return *value
}
