// SPDX-License-Identifier: Apache-2.0

package kustomize_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetwright/fleetwright/config/kustomize"
)

// fleet refers to something in every field that can.
const fleet = `apiVersion: celld.eric.dev/v1alpha1
kind: KIND
metadata:
  name: cells
spec:
  env:
  - name: CELLD_A
    value: a
  - name: CELLD_B
    secretKeyRef:
      key: k
      name: creds
  - name: CELLD_C
    value: c
  imagePullSecrets:
  - name: creds
  - name: elsewhere
  placement:
    priorityClassName: high
    zones:
    - a
    - b
  replicas: 3
  routing:
    gateway:
      name: gw
    hostnames:
    - a.example
    ingress:
      className: web
      tlsSecretName: creds
  runtimeImage: ghcr.io/ewhauser/celld@sha256:old
  serviceAccountName: runtime
  storage:
    bucket: s3://creds
    endpoint:
      credentialsSecretName: creds
      url: https://minio
    storageClassName: fast
  telemetry:
    headersSecretKeyRef:
      key: k
      name: creds
`

const others = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: runtime}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: x
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: web}
`

// What a kustomization does to a fleet, told as replacements in it.
func TestKustomization(t *testing.T) {
	for name, c := range map[string]struct {
		kustomization string
		changes       []string // old, new, old, new, ...
	}{
		"nothing": {},
		// kustomize puts patched entries first, in every kind: the others keep their order.
		"patch of one variable": {
			kustomization: `
patches:
- patch: |-
    apiVersion: celld.eric.dev/v1alpha1
    kind: KIND
    metadata: {name: cells}
    spec: {env: [{name: CELLD_C, value: changed}], imagePullSecrets: [{name: more}]}
`,
			changes: []string{
				"  - name: CELLD_C\n    value: c\n", "",
				"  env:\n", "  env:\n  - name: CELLD_C\n    value: changed\n",
				"  imagePullSecrets:\n", "  imagePullSecrets:\n  - name: more\n"}},
		"removal of one variable": {
			kustomization: `
patches:
- patch: |-
    apiVersion: celld.eric.dev/v1alpha1
    kind: KIND
    metadata: {name: cells}
    spec: {env: [{name: CELLD_A, $patch: delete}]}
`,
			changes: []string{"  - name: CELLD_A\n    value: a\n", ""}},
		"zones are replaced": {
			kustomization: `
patches:
- patch: |-
    apiVersion: celld.eric.dev/v1alpha1
    kind: KIND
    metadata: {name: cells}
    spec: {placement: {zones: [c]}}
`,
			changes: []string{"    - a\n    - b\n", "    - c\n"}},
		"image": {
			kustomization: "images: [{name: ghcr.io/ewhauser/celld, newName: mirror/celld, digest: sha256:new}]\n",
			changes:       []string{"ghcr.io/ewhauser/celld@sha256:old", "mirror/celld@sha256:new"}},
		"replicas": {
			kustomization: "replicas: [{name: cells, count: 5}]\n",
			changes:       []string{"replicas: 3", "replicas: 5"}},
		"labels and annotations stay out of Pods": {
			kustomization: "labels: [{pairs: {a: b}, includeTemplates: true}]\ncommonAnnotations: {c: d}\n",
			changes:       []string{"metadata:\n", "metadata:\n  annotations:\n    c: d\n  labels:\n    a: b\n"}},
		"names that follow": {
			kustomization: `
namePrefix: my-
resources: [others.yaml]
secretGenerator: [{name: creds, literals: [k=v]}]
generatorOptions: {disableNameSuffixHash: true}
`,
			changes: []string{
				"name: cells", "name: my-cells",
				"name: creds", "name: my-creds", "SecretName: creds", "SecretName: my-creds",
				"serviceAccountName: runtime", "serviceAccountName: my-runtime",
				"storageClassName: fast", "storageClassName: my-fast",
				"priorityClassName: high", "priorityClassName: my-high",
				"name: gw", "name: my-gw", "className: web", "className: my-web"}},
	} {
		for _, kind := range []string{"PersistentFleet", "BucketFleet"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				ofKind := strings.NewReplacer("KIND", kind)
				want := strings.NewReplacer(c.changes...).Replace(ofKind.Replace(fleet))
				if kind == "BucketFleet" {
					want = strings.Replace(want, "storageClassName: my-fast", "storageClassName: fast", 1) // it has no such field
				}
				require.Equal(t, want, build(t, kind, ofKind.Replace(fleet), ofKind.Replace(c.kustomization)))
			})
		}
	}
}

// A generated Secret's name carries a hash of its content, and the fleet follows it.
func TestGeneratedNamesCarryTheirHash(t *testing.T) {
	out := build(t, "PersistentFleet", strings.ReplaceAll(fleet, "KIND", "PersistentFleet"),
		"secretGenerator: [{name: creds, literals: [k=v]}]\n")
	require.Regexp(t, `credentialsSecretName: creds-[a-z0-9]{10}\n`, out)
}

// build runs kustomize with both files listed in the kustomization, and returns the fleet.
func build(t *testing.T, kind, fleet, kustomization string) string {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	for name, text := range map[string]string{
		"fleet.yaml": fleet, "others.yaml": others,
		"kustomizeconfig.yaml": string(kustomize.Config), "openapi.json": string(kustomize.OpenAPI),
		"kustomization.yaml": "configurations: [kustomizeconfig.yaml]\nopenapi: {path: openapi.json}\n" + resources(kustomization),
	} {
		require.NoError(t, fs.WriteFile(filepath.Join("/app", name), []byte(text)))
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, "/app")
	require.NoError(t, err)
	for _, o := range objects.Resources() {
		if o.GetKind() == kind {
			text, err := o.AsYAML()
			require.NoError(t, err)
			return string(text)
		}
	}
	t.Fatalf("no %s in the output", kind)
	return ""
}

// resources adds the fleet to the resources of a kustomization.
func resources(kustomization string) string {
	if strings.Contains(kustomization, "resources: [") {
		return strings.Replace(kustomization, "resources: [", "resources: [fleet.yaml, ", 1)
	}
	return kustomization + "\nresources: [fleet.yaml]\n"
}
