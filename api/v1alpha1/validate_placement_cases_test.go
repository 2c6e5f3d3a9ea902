// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "github.com/fleetwright/fleetwright/api/v1alpha1"

var validatePlacement = map[string]validateCase{
	"as much as allowed": {
		patch: `spec: {replicas: 6, placement: {zones: [` + many(6, "z%d") + `], nodeSelector: {` + many(32, "k%d: v") +
			`}, tolerations: [` + many(32, "{key: k%d}") + `]}}`},
	"too many tolerations": {
		patch: `spec: {placement: {tolerations: [` + many(33, "{key: k%d}") + `]}}`,
		want:  []string{"spec.placement.tolerations: Too many: 33: must have at most 32 items"}},
	"no zones": {
		patch: `spec: {placement: {zones: []}}`,
		want: []string{
			"spec.placement.zones: Required value: 1 to 6 zones that members may run in",
		}},
	"too many zones": {
		patch: `spec: {replicas: 7, placement: {zones: [a, b, c, d, e, f, g]}}`,
		want: []string{
			"spec.placement.zones: Too many: 7: must have at most 6 items",
		}},
	"zones wrong": {
		patch: `spec: {placement: {zones: [a, '', a]}}`,
		want: []string{
			`spec.placement.zones[1]: Invalid value: "": must be a value of the node label topology.kubernetes.io/zone`,
			`spec.placement.zones[2]: Duplicate value: "a"`,
		}},
	"most members in a zone": {patch: `spec: {placement: {maxPerZone: 100}}`},
	"no member in a zone": {
		patch: `spec: {placement: {maxPerZone: 0}}`,
		want:  []string{"spec.placement.maxPerZone: Invalid value: 0: must be from 1 to 100"}},
	"too many members in a zone": {
		patch: `spec: {placement: {maxPerZone: 101, mode: Strict}}`,
		want:  []string{"spec.placement.maxPerZone: Invalid value: 101: must be from 1 to 100"}},
	"a cap in Relaxed": {
		patch: `spec: {placement: {maxPerZone: 1, mode: Relaxed}}`,
		want:  []string{"spec.placement.maxPerZone: Forbidden: is for mode Strict only: remove it, or set mode to Strict"}},
	"a cap for ordinals that have their zones": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {placement: {maxPerZone: 1}, workload: Ordered}`,
		want:  []string{"spec.placement.maxPerZone: Forbidden: is not for workload Ordered, where each ordinal has its zone: remove it"}},
	"a cap for a Deployment": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {placement: {maxPerZone: 2}, workload: Deployment}`},
	"above the cap, which is asked elsewhere": {patch: `spec: {replicas: 7, placement: {maxPerZone: 2}}`},
	"selector of a zone": {
		patch: `spec: {placement: {nodeSelector: {topology.kubernetes.io/zone: us-east-1a, topology.kubernetes.io/region: us-east-1}}}`,
		want: []string{"spec.placement.nodeSelector[topology.kubernetes.io/zone]: Forbidden: must not select zones: list them in " +
			"placement.zones instead"}},
	"selector wrong": {
		patch: `spec: {placement: {nodeSelector: {'a b': x, disk: -ssd}}}`,
		want: []string{
			`spec.placement.nodeSelector[a b]: Invalid value: "a b": name part must consist of alphanumeric...`,
			`spec.placement.nodeSelector[disk]: Invalid value: "-ssd": a valid label must be an empty string or consist of ` +
				`alphanumeric...`,
		}},
	"too many selectors": {
		patch: `spec: {placement: {nodeSelector: {` + many(33, "k%d: v") + `}}}`,
		want: []string{
			"spec.placement.nodeSelector: Too many: 33: must have at most 32 items",
		}},
	"tolerations wrong": {
		patch: `spec: {placement: {tolerations: [{}, {key: a, operator: In}, {key: a, operator: Exists, value: x}, {key: 'a b'}, ` +
			`{key: a, value: 'a b'}, {key: a, effect: Never}, {key: a, tolerationSeconds: 5}]}}`,
		want: []string{
			`spec.placement.tolerations[0].operator: Invalid value: "": must be Exists when key is empty`,
			`spec.placement.tolerations[1].operator: Unsupported value: "In": supported values: "Equal", "Exists"`,
			`spec.placement.tolerations[2].value: Invalid value: "x": must be empty when operator is Exists`,
			`spec.placement.tolerations[3].key: Invalid value: "a b": name part must consist of alphanumeric...`,
			`spec.placement.tolerations[4].value: Invalid value: "a b": a valid label must be an empty string or consist of ` +
				`alphanumeric...`,
			`spec.placement.tolerations[5].effect: Unsupported value: "Never": supported values: "NoSchedule", ` +
				`"PreferNoSchedule", "NoExecute"`,
			`spec.placement.tolerations[6].effect: Invalid value: "": must be NoExecute when tolerationSeconds is set`,
		}},
	"every toleration that works": {
		patch: `spec: {placement: {tolerations: [{operator: Exists}, {key: a}, {key: a, operator: Equal, value: x, effect: ` +
			`NoSchedule}, {key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]}}`},
	"priority class that is no name": {
		patch: `spec: {placement: {priorityClassName: High}}`,
		want: []string{
			`spec.placement.priorityClassName: Invalid value: "High": must be a DNS name: lower-case letters, digits, '-' and ` +
				`'.', at most 253 characters`,
		}},
}

var validateResources = map[string]validateCase{
	"request above limit": {
		patch: `spec: {resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}}`,
		want: []string{
			`spec.resources.requests[cpu]: Invalid value: "2": must be at most its limit, 1500m`,
		}},
	"negative and unknown": {
		patch: `spec: {resources: {requests: {cpu: -1, storage: 1Gi}, limits: {cards: 1}}}`,
		want: []string{
			`spec.resources.limits[cards]: Invalid value: "cards": must be cpu, memory, ephemeral-storage, hugepages-<size> or ` +
				`an extended resource such as vendor.example/device`,
			`spec.resources.requests[cpu]: Invalid value: "-1": must not be negative`,
			`spec.resources.requests[storage]: Invalid value: "storage": must be cpu, memory, ephemeral-storage, ` +
				`hugepages-<size> or an extended resource such as vendor.example/device`,
			`spec.resources.requests[storage]: Invalid value: "1Gi": must equal its limit: this resource cannot be overcommitted`,
		}},
	"devices": {
		patch: `spec: {resources: {requests: {example.com/card: 1}, limits: {example.com/card: 1, hugepages-2Mi: 4Mi}}}`},
	"devices overcommitted": {
		patch: `spec: {resources: {requests: {example.com/card: 1, hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi}}}`,
		want: []string{
			`spec.resources.requests[example.com/card]: Invalid value: "1": must equal its limit: this resource cannot be ` +
				`overcommitted`,
			`spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must equal its limit: this resource cannot be ` +
				`overcommitted`,
		}},
	"bytes that are no whole ones": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {resources: {limits: {memory: 3500m, ephemeral-storage: 1500m}, requests: {memory: 63Mi}}}`,
		want: []string{
			`spec.resources.limits[ephemeral-storage]: Invalid value: "1500m": must be whole bytes, from 0 to 64Ti`,
			`spec.resources.limits[memory]: Invalid value: "3500m": must be whole bytes, from 64Mi to 64Ti`,
			`spec.resources.requests[memory]: Invalid value: "63Mi": must be whole bytes, from 64Mi to 64Ti`,
			`spec.resources.requests[memory]: Invalid value: "63Mi": must be at most its limit, 3500m`,
		}},
	"bytes in other words": {
		patch: `spec: {resources: {limits: {memory: 67108864000m, cpu: 1u}, requests: {memory: 0.0625Gi, cpu: 1u}}}`},
	"half a device": {
		patch: `spec: {resources: {limits: {example.com/card: 1500m}}}`,
		want: []string{
			`spec.resources.limits[example.com/card]: Invalid value: "1500m": must be a whole number`,
		}},
	"claims": {
		patch: `spec: {resources: {claims: [{name: card}]}}`,
		want: []string{
			"spec.resources.claims: Forbidden: is not supported: the fleet's Pods have no resource claims",
		}},
	"ephemeral storage of a persistent fleet": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {resources: {limits: {ephemeral-storage: 1Gi}}}`},
	"ephemeral storage of a cache": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {resources: {requests: {ephemeral-storage: 1Gi}}}`,
		want: []string{
			"spec.resources: Forbidden: must not set ephemeral-storage: storage.size sets its request and limit",
		}},
}
