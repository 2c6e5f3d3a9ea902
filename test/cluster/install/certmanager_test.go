// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// certManager defines the kinds that the chart makes objects of, without their
// controllers.
const certManager = `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: issuers.cert-manager.io},
 spec: {group: cert-manager.io, scope: Namespaced, names: {kind: Issuer, plural: issuers},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: certificates.cert-manager.io},
 spec: {group: cert-manager.io, scope: Namespaced, names: {kind: Certificate, plural: certificates},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
`

// TestCertManagerMode holds that the API server takes what the chart renders
// for cert-manager, and that nothing of it stays.
func TestCertManagerMode(t *testing.T) {
	c := newCluster(t)
	file := filepath.Join(t.TempDir(), "cert-manager.yaml")
	require.NoError(t, os.WriteFile(file, []byte(certManager), 0o600))
	kubectl(t, c, "apply", "--server-side", "-f", file)
	kubectl(t, c, "wait", "--for=condition=Established", "-f", file)
	helm(t, c, helmInstall+" --take-ownership --set webhook.certificates=cert-manager")
	require.Equal(t, "fleetwright-webhook fleetwright-webhook-authority",
		kubectl(t, c, "-n", system, "get", "certificates", "-o", "jsonpath={.items[*].metadata.name}"))
	require.Equal(t, "fleetwright-system/fleetwright-webhook", kubectl(t, c, "get", "validatingwebhookconfiguration", "fleetwright-webhook",
		"-o", `jsonpath={.metadata.annotations.cert-manager\.io/inject-ca-from}`))

	helm(t, c, helmUninstall)
	kubectl(t, c, in(t, []string{"delete", "-f", "dist/kustomize/crds.yaml"})...)
	kubectl(t, c, "delete", "namespace", system)
	kubectl(t, c, "delete", "-f", file)
	require.Empty(t, inventory(t, c))
}
