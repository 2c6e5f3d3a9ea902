// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
)

var validateEnv = map[string]validateCase{
	"as many as allowed": {patch: `spec: {env: [` + many(32, "{name: CELLD_%d}") + `]}`},
	"value too long": {
		patch: `spec: {env: [{name: CELLD_X, value: ` + strings.Repeat("ü", 4097) + `}]}`,
		want:  []string{"spec.env[0].value: Too long: may not be more than 4096 characters"}},
	"names wrong": {
		patch: `spec: {env: [{name: ''}, {name: PATH}, {name: celld_x}, {name: CELLD_}]}`,
		want: []string{
			"spec.env[0].name: Required value: the variable's name, CELLD_...",
			`spec.env[1].name: Invalid value: "PATH": must be CELLD_ and upper-case letters, digits and '_', at most 128 characters`,
			`spec.env[2].name: Invalid value: "celld_x": must be CELLD_ and upper-case letters, digits and '_', at most 128 ` +
				`characters`,
			`spec.env[3].name: Invalid value: "CELLD_": must be CELLD_ and upper-case letters, digits and '_', at most 128 ` +
				`characters`,
		}},
	"names of render": {
		patch: `spec: {env: [{name: CELLD_NODE}, {name: CELLD_ADVERTISE}, {name: CELLD_BUCKET}, {name: CELLD_DURABILITY}, {name: ` +
			`CELLD_ADDR}, {name: CELLD_INTERNAL_ADDR}, {name: CELLD_WATCH}, {name: CELLD_TTL_MS}, {name: ` +
			`CELLD_SHUTDOWN_TOTAL_MS}, {name: CELLD_TOKIO_THREADS}, {name: CELLD_MAX_RESIDENT_CELLS}, {name: ` +
			`CELLD_IDLE_EVICT_S}]}`,
		want: []string{
			`spec.env[0].name: Invalid value: "CELLD_NODE": is set by Fleetwright itself and cannot be changed`,
			`spec.env[1].name: Invalid value: "CELLD_ADVERTISE": is set by Fleetwright itself and cannot be changed`,
			`spec.env[2].name: Invalid value: "CELLD_BUCKET": is set by Fleetwright itself: use spec.storage.bucket`,
			`spec.env[3].name: Invalid value: "CELLD_DURABILITY": is set by Fleetwright itself and cannot be changed`,
			`spec.env[4].name: Invalid value: "CELLD_ADDR": is set by Fleetwright itself and cannot be changed`,
			`spec.env[5].name: Invalid value: "CELLD_INTERNAL_ADDR": is set by Fleetwright itself and cannot be changed`,
			`spec.env[6].name: Invalid value: "CELLD_WATCH": is set by Fleetwright itself and cannot be changed`,
			`spec.env[7].name: Invalid value: "CELLD_TTL_MS": is set by Fleetwright itself and cannot be changed`,
			`spec.env[8].name: Invalid value: "CELLD_SHUTDOWN_TOTAL_MS": is set by Fleetwright itself: use ` +
				`spec.lifecycle.shutdownSeconds`,
			`spec.env[9].name: Invalid value: "CELLD_TOKIO_THREADS": is set by Fleetwright itself and cannot be changed`,
			`spec.env[10].name: Invalid value: "CELLD_MAX_RESIDENT_CELLS": is set by Fleetwright itself: use spec.cells.maxResident`,
			`spec.env[11].name: Invalid value: "CELLD_IDLE_EVICT_S": is set by Fleetwright itself: use spec.cells.idleEvictSeconds`,
		}},
	"reserved prefixes": {
		patch: `spec: {env: [{name: CELLD_REEXEC_X}, {name: CELLD_OTEL}, {name: CELLD_OTEL_X}, {name: CELLD_UNSAFE_X}, {name: ` +
			`CELLD_TEST_X}, {name: CELLD_STRICT_X}, {name: CELLD_EXPORT}, {name: CELLD_EXPORTS}, {name: CELLD_VAR_}, {name: CELLD_VAR_X}]}`,
		want: []string{
			`spec.env[0].name: Invalid value: "CELLD_REEXEC_X": has the prefix CELLD_REEXEC_, which celld reserves for itself`,
			`spec.env[1].name: Invalid value: "CELLD_OTEL": is set from spec.telemetry: use its fields`,
			`spec.env[2].name: Invalid value: "CELLD_OTEL_X": is set from spec.telemetry: use its fields`,
			`spec.env[3].name: Invalid value: "CELLD_UNSAFE_X": has the prefix CELLD_UNSAFE_, which celld reserves for itself`,
			`spec.env[4].name: Invalid value: "CELLD_TEST_X": has the prefix CELLD_TEST_, which celld reserves for itself`,
			`spec.env[5].name: Invalid value: "CELLD_STRICT_X": has the prefix CELLD_STRICT_, which celld reserves for itself`,
			`spec.env[6].name: Invalid value: "CELLD_EXPORT": has the prefix CELLD_EXPORT, which celld reserves for itself`,
			`spec.env[7].name: Invalid value: "CELLD_EXPORTS": has the prefix CELLD_EXPORT, which celld reserves for itself`,
			`spec.env[8].name: Invalid value: "CELLD_VAR_": ` + varMessage,
			`spec.env[9].name: Invalid value: "CELLD_VAR_X": ` + varMessage,
		}},
	"names that stop celld": {
		patch: `spec: {env: [{name: CELLD_SHUTDOWN_DRAIN_MS}, {name: CELLD_DRAIN_TOKEN_WAIT_MS}]}`,
		want: []string{
			`spec.env[0].name: Invalid value: "CELLD_SHUTDOWN_DRAIN_MS": stops celld 0.6 from starting as soon as it exists: ` +
				`use spec.lifecycle.shutdownSeconds`,
			`spec.env[1].name: Invalid value: "CELLD_DRAIN_TOKEN_WAIT_MS": stops celld 0.6 from starting as soon as it exists: ` +
				`use spec.lifecycle.shutdownSeconds`,
		}},
	"names that only look reserved": {
		patch: `spec: {env: [{name: CELLD_NODES}, {name: CELLD_TEST}, {name: CELLD_VARS}, {name: CELLD_OTE, value: ''}]}`},
	"twice": {
		patch: `spec: {env: [{name: CELLD_X, value: a}, {name: CELLD_X, value: b}]}`,
		want: []string{
			`spec.env[1]: Duplicate value: "CELLD_X"`,
		}},
	"value beside secret": {
		patch: `spec: {env: [{name: CELLD_X, value: a, secretKeyRef: {name: s, key: k}}]}`,
		want: []string{
			"spec.env[0].secretKeyRef: Forbidden: must not be set beside value: keep one of them",
		}},
	"empty value beside secret": {patch: `spec: {env: [{name: CELLD_X, value: '', secretKeyRef: {name: s, key: k}}]}`},
	"secret without name and with a bad key": {
		patch: `spec: {env: [{name: CELLD_X, secretKeyRef: {name: '', key: a/b}}]}`,
		want: []string{
			"spec.env[0].secretKeyRef.name: Required value: the name of a Secret",
			`spec.env[0].secretKeyRef.key: Invalid value: "a/b": must be a Secret's key: letters, digits, '-', '_' and '.', at ` +
				`most 253 characters`,
		}},
	"too many": {
		patch: `spec: {env: [` + many(33, "{name: CELLD_%d}") + `]}`,
		want: []string{
			"spec.env: Too many: 33: must have at most 32 items",
		}},
}

var validatePodMetadata = map[string]validateCase{
	"as many as allowed": {
		patch: `spec: {podMetadata: {labels: {` + many(32, "k%d: v") + `}, annotations: {` + many(32, "k%d: v") + `}}}`},
	"too many annotations": {
		patch: `spec: {podMetadata: {annotations: {` + many(33, "k%d: v") + `}}}`,
		want:  []string{"spec.podMetadata.annotations: Too many: 33: must have at most 32 items"}},
	"keys of ours": {
		patch: `spec: {podMetadata: {labels: {celld.eric.dev/fleet: x, app.kubernetes.io/name: x, app.kubernetes.io/managed-by: ` +
			`x}, annotations: {celld.eric.dev/seal: x, kubectl.kubernetes.io/default-container: x}}}`,
		want: []string{
			"spec.podMetadata.labels[app.kubernetes.io/managed-by]: Forbidden: is set by Fleetwright itself: use another key",
			"spec.podMetadata.labels[app.kubernetes.io/name]: Forbidden: is set by Fleetwright itself: use another key",
			"spec.podMetadata.labels[celld.eric.dev/fleet]: Forbidden: is set by Fleetwright itself: use another key",
			"spec.podMetadata.annotations[celld.eric.dev/seal]: Forbidden: is set by Fleetwright itself: use another key",
			"spec.podMetadata.annotations[kubectl.kubernetes.io/default-container]: Forbidden: is set by Fleetwright itself: use another key",
		}},
	"keys that only look like ours": {
		patch: `spec: {podMetadata: {labels: {celld.eric.dev: x, app.kubernetes.io/part-of: x}, annotations: ` +
			`{app.kubernetes.io/name: x}}}`},
	"bad label and annotation": {
		patch: `spec: {podMetadata: {labels: {a: 'b c'}, annotations: {a/b/c: x}}}`,
		want: []string{
			`spec.podMetadata.labels[a]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric...`,
			`spec.podMetadata.annotations[a/b/c]: Invalid value: "a/b/c": a valid label key must consist of alphanumeric...`,
		}},
	"more annotations than an object may have": {
		patch: `spec: {podMetadata: {annotations: {a: ` + strings.Repeat("a", 256*1024) + `}}}`,
		want:  []string{"spec.podMetadata.annotations: Too long: may not be more than 262144 bytes"}},
	"too many labels": {
		patch: `spec: {podMetadata: {labels: {` + many(33, "k%d: v") + `}}}`,
		want: []string{
			"spec.podMetadata.labels: Too many: 33: must have at most 32 items",
		}},
}

var validateNetwork = map[string]validateCase{
	"as much as allowed": {
		patch: `spec: {network: {dns: {podLabels: {` + many(16, "k%d: v") + `}}, extraEgress: [` + strings.Repeat("{}, ", 31) + `{}]}}`},
	"too many labels of dns": {
		patch: `spec: {network: {dns: {podLabels: {` + many(17, "k%d: v") + `}}}}`,
		want:  []string{"spec.network.dns.podLabels: Too many: 17: must have at most 16 items"}},
	"dns": {
		patch: `spec: {network: {dns: {namespace: Kube, podLabels: {app: 'a b'}}}}`,
		want: []string{
			`spec.network.dns.namespace: Invalid value: "Kube": must be a DNS label: lower-case letters, digits and '-', at ` +
				`most 63 characters`,
			`spec.network.dns.podLabels[app]: Invalid value: "a b": a valid label must be an empty string or consist of ` +
				`alphanumeric...`,
		}},
	"nothing set": {patch: `spec: {network: {credentials: '', dns: {namespace: '', podLabels: {}}, extraEgress: []}}`},
	"egress that works": {
		patch: `spec: {network: {extraEgress: [{}, {ports: [{port: 5432}, {protocol: UDP, port: 1000, endPort: 2000}, {port: ` +
			`https}, {protocol: SCTP}], to: [{podSelector: {}}, {namespaceSelector: {matchLabels: {a: b}}, podSelector: ` +
			`{matchExpressions: [{key: a, operator: In, values: [b]}]}}, {ipBlock: {cidr: 10.0.0.0/8, except: ` +
			`[10.1.0.0/16]}}]}]}}`},
	"ports wrong": {
		patch: `spec: {network: {extraEgress: [{ports: [{protocol: tcp}, {port: 0}, {port: 65536}, {port: -a}, {endPort: 5}, ` +
			`{port: a, endPort: 5}, {port: 10, endPort: 9}]}]}}`,
		want: []string{
			`spec.network.extraEgress[0].ports[0].protocol: Unsupported value: "tcp": supported values: "TCP", "UDP", "SCTP"`,
			"spec.network.extraEgress[0].ports[1].port: Invalid value: 0: must be from 1 to 65535",
			"spec.network.extraEgress[0].ports[2].port: Invalid value: 65536: must be from 1 to 65535",
			`spec.network.extraEgress[0].ports[3].port: Invalid value: "-a": must not begin or end with a hyphen`,
			"spec.network.extraEgress[0].ports[4].endPort: Forbidden: needs a number in port",
			"spec.network.extraEgress[0].ports[5].endPort: Forbidden: needs a number in port",
			"spec.network.extraEgress[0].ports[6].endPort: Invalid value: 9: must be from 10 to 65535",
		}},
	"peers wrong": {
		patch: `spec: {network: {extraEgress: [{to: [{}, {ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}, {ipBlock: {cidr: ` +
			`10.0.0.1}}, {ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16, 10.0.0.0/8, x]}}, {podSelector: {matchLabels: {a: ` +
			`'b c'}}}, {namespaceSelector: {matchExpressions: [{key: a, operator: Is}, {key: a, operator: In}, {key: '', ` +
			`operator: Exists}]}}]}]}}`,
		want: []string{
			`spec.network.extraEgress[0].to[0]: Required value: exactly one of ipBlock and a selector of Pods or namespaces`,
			`spec.network.extraEgress[0].to[1]: Forbidden: ipBlock and a selector of Pods or namespaces exclude each other: ` +
				`keep one of them`,
			`spec.network.extraEgress[0].to[2].ipBlock.cidr: Invalid value: "10.0.0.1": must be an address range, such as 10.0.0.0/8`,
			`spec.network.extraEgress[0].to[3].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be an address range inside cidr`,
			`spec.network.extraEgress[0].to[3].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be an address range inside cidr`,
			`spec.network.extraEgress[0].to[3].ipBlock.except[2]: Invalid value: "x": must be an address range inside cidr`,
			`spec.network.extraEgress[0].to[4].podSelector.matchLabels[a]: Invalid value: "b c": a valid label must be an ` +
				`empty string or consist of alphanumeric...`,
			`spec.network.extraEgress[0].to[5].namespaceSelector.matchExpressions[0].operator: Invalid value: "Is": not a ` +
				`valid selector operator`,
			"spec.network.extraEgress[0].to[5].namespaceSelector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.network.extraEgress[0].to[5].namespaceSelector.matchExpressions[2].key: Invalid value: "": name part must be ` +
				`non-empty`,
			`spec.network.extraEgress[0].to[5].namespaceSelector.matchExpressions[2].key: Invalid value: "": name part must ` +
				`consist of alphanumeric...`,
		}},
	"too many rules": {
		patch: `spec: {network: {extraEgress: [` + strings.Repeat("{}, ", 33) + `]}}`,
		want: []string{
			"spec.network.extraEgress: Too many: 33: must have at most 32 items",
		}},
}
