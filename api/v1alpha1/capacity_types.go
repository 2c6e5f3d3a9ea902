// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Capacity says who decides the member count, and by which load. All of it may change at any time, and restarts nobody.
type Capacity struct {
	// Mode is Manual (the default): spec.replicas is the member count. Shadow: a policy says what it would do, and does
	// nothing. ScaleOut: the policy adds members when the load is high, above the floor spec.replicas. Automatic: it removes
	// them as well when the load is low. External: one scaler of your own, such as an HPA, owns spec.replicas, which is then
	// not in Git.
	// +optional
	// +kubebuilder:validation:Enum="";Manual;Shadow;ScaleOut;Automatic;External
	Mode CapacityMode `json:"mode,omitempty"`
	// MaxReplicas is the most members that the policy asks for, 1 to 100, at least spec.replicas. Default 10, or as many as the
	// zones hold if that is fewer, or spec.replicas if that is more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// CPU that a member uses, 1m to 1000. Default: 80% and 32% of the container's CPU request.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.high) || (isQuantity(string(self.high)) && quantity(string(self.high)).compareTo(quantity('1m')) >= 0 && quantity(string(self.high)).compareTo(quantity('1000')) <= 0)",fieldPath=.high,message="must be from 1m to 1000"
	// +kubebuilder:validation:XValidation:rule="!has(self.low) || (isQuantity(string(self.low)) && quantity(string(self.low)).compareTo(quantity('1m')) >= 0 && quantity(string(self.low)).compareTo(quantity('1000')) <= 0)",fieldPath=.low,message="must be from 1m to 1000"
	CPU LoadRange `json:"cpu,omitempty,omitzero"`
	// Memory that a member uses, 1Mi to 1Ti. Default: 75% and 37.5% of the container's memory limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.high) || (isQuantity(string(self.high)) && quantity(string(self.high)).compareTo(quantity('1Mi')) >= 0 && quantity(string(self.high)).compareTo(quantity('1Ti')) <= 0)",fieldPath=.high,message="must be from 1Mi to 1Ti"
	// +kubebuilder:validation:XValidation:rule="!has(self.low) || (isQuantity(string(self.low)) && quantity(string(self.low)).compareTo(quantity('1Mi')) >= 0 && quantity(string(self.low)).compareTo(quantity('1Ti')) <= 0)",fieldPath=.low,message="must be from 1Mi to 1Ti"
	Memory LoadRange `json:"memory,omitempty,omitzero"`
	// ScaleOut paces additions.
	// +optional
	ScaleOut ScaleOut `json:"scaleOut,omitempty,omitzero"`
	// ScaleIn paces removals, one member each.
	// +optional
	ScaleIn ScaleIn `json:"scaleIn,omitempty,omitzero"`
	// Sampling says how often members are read, and which of what is read counts.
	// +optional
	Sampling Sampling `json:"sampling,omitempty,omitzero"`
	// ProvisioningTimeoutSeconds is how long a member that is not Ready is waited for before the policy says that it adds no
	// capacity, 60 to 86400. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	ProvisioningTimeoutSeconds *int32 `json:"provisioningTimeoutSeconds,omitempty"`
	// RedistributionSeconds is how long an addition is watched before it is judged by whether it relieved anybody, 30 to 3600.
	// Default 120.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=3600
	RedistributionSeconds *int32 `json:"redistributionSeconds,omitempty"`
}

// LoadRange is when the load of a member is high, and when it is low. Both are set, or neither.
//
// +kubebuilder:validation:XValidation:rule="has(self.high) == has(self.low)",fieldPath=.high,message="must be set together with low: both, or neither"
// +kubebuilder:validation:XValidation:rule="!has(self.high) || !has(self.low) || quantity(string(self.low)).isLessThan(quantity(string(self.high)))",fieldPath=.low,message="must be below high"
type LoadRange struct {
	// High is from where on a member is hot: one is enough for an addition.
	// +optional
	High *resource.Quantity `json:"high,omitempty"`
	// Low is below which a member is idle: all have to be for a removal. At most half of High, or members come and go in turns.
	// +optional
	Low *resource.Quantity `json:"low,omitempty"`
}

// ScaleOut paces additions.
type ScaleOut struct {
	// Step is the most members that one addition asks for, 1 to 10. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Step *int32 `json:"step,omitempty"`
	// StabilizationSeconds is how long the load is high before an addition, 10 to 3600. Default 30.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
	// CooldownSeconds is the least time from the last addition or removal to the next addition, 30 to 86400. Default 300.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
}

// ScaleIn paces removals.
type ScaleIn struct {
	// StabilizationSeconds is how long the load is low before a removal, 60 to 86400. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
	// CooldownSeconds is the least time from the last addition or removal to the next removal, 60 to 86400. Default 900.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
}

// Sampling says how often members are read, and which of what is read counts.
//
// +kubebuilder:validation:XValidation:rule="2 * (has(self.intervalSeconds) ? self.intervalSeconds : 15) <= (has(self.maxAgeSeconds) ? self.maxAgeSeconds : 45)",fieldPath=.intervalSeconds,message="must be at most half of maxAgeSeconds (defaults 15 and 45)"
// +kubebuilder:validation:XValidation:rule="(has(self.minWindowSeconds) ? self.minWindowSeconds : 5) <= (has(self.maxWindowSeconds) ? self.maxWindowSeconds : 60)",fieldPath=.minWindowSeconds,message="must be at most maxWindowSeconds (defaults 5 and 60)"
type Sampling struct {
	// IntervalSeconds is the time from one look at all members to the next, 5 to 300, at most half of MaxAgeSeconds. Default 15.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=300
	IntervalSeconds *int32 `json:"intervalSeconds,omitempty"`
	// MaxAgeSeconds is how old a sample may be, 10 to 600. Default 45. The Metrics Server's own resolution (15 s by default)
	// has to be well below it.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=600
	MaxAgeSeconds *int32 `json:"maxAgeSeconds,omitempty"`
	// MinSamples is how many looks in a row have to agree, 2 to 100. Default 3.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	MinSamples *int32 `json:"minSamples,omitempty"`
	// MinWindowSeconds is the shortest time over which a sample of the Metrics API may be measured, 1 to 60. Default 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	MinWindowSeconds *int32 `json:"minWindowSeconds,omitempty"`
	// MaxWindowSeconds is the longest time over which a sample of the Metrics API may be measured, 5 to 300. Default 60.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=300
	MaxWindowSeconds *int32 `json:"maxWindowSeconds,omitempty"`
}

// CapacityMode says who decides the member count.
type CapacityMode string

// Capacity modes.
const (
	CapacityManual    CapacityMode = "Manual"
	CapacityShadow    CapacityMode = "Shadow"
	CapacityScaleOut  CapacityMode = "ScaleOut"
	CapacityAutomatic CapacityMode = "Automatic"
	CapacityExternal  CapacityMode = "External"
)

// Evaluates reports whether a policy watches the load.
func (m CapacityMode) Evaluates() bool {
	return m == CapacityShadow || m == CapacityScaleOut || m == CapacityAutomatic
}

// Adds reports whether the policy adds members.
func (m CapacityMode) Adds() bool { return m == CapacityScaleOut || m == CapacityAutomatic }
