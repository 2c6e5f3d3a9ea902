// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"slices"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/fleetwright/fleetwright/config/crd"
	"github.com/fleetwright/fleetwright/config/healer"
)

// The programs may do what config says, wherever the chart puts it, and nothing else.
func TestRights(t *testing.T) {
	all := objects(t, "fleetwright-system", "")
	for program, text := range map[string][]byte{"healer": healer.Role, "webhook": read(t, "config/webhook/rbac.yaml")} {
		named := "fleetwright-" + program
		want := decode(t, string(text))
		require.Len(t, want, 2)
		require.Equal(t, find[*rbacv1.ClusterRole](t, want, named).Rules, find[*rbacv1.ClusterRole](t, all, named).Rules)
		role := find[*rbacv1.Role](t, all, named)
		require.Equal(t, find[*rbacv1.Role](t, want, named).Rules, role.Rules)
		require.Equal(t, find[*rbacv1.Role](t, want, named).Namespace, role.Namespace)
		subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: named, Namespace: "fleetwright-system"}}
		require.Equal(t, subjects, find[*rbacv1.ClusterRoleBinding](t, all, named).Subjects)
		require.Equal(t, named, find[*rbacv1.ClusterRoleBinding](t, all, named).RoleRef.Name)
		require.Equal(t, subjects, find[*rbacv1.RoleBinding](t, all, named).Subjects)
		require.Equal(t, named, find[*appsv1.Deployment](t, all, named).Spec.Template.Spec.ServiceAccountName)
	}
	count := 0
	for _, o := range all {
		switch o.(type) {
		case *rbacv1.ClusterRole, *rbacv1.Role:
			count++
		}
	}
	require.Equal(t, 4, count)
}

// In namespaces of its own the healer has the same rights, those of cluster-wide kinds for the cluster.
func TestRightsInNamespaces(t *testing.T) {
	all := objects(t, "fleetwright-system", "fleetNamespaces: [fleets, fleetwright-system]")
	want := find[*rbacv1.ClusterRole](t, decode(t, string(healer.Role)), "fleetwright-healer").Rules
	cluster := find[*rbacv1.ClusterRole](t, all, "fleetwright-healer").Rules
	var resources []string
	for _, rule := range cluster {
		resources = append(resources, rule.Resources...)
	}
	// Fleets are there too: a namespace that ends loses its Role before they lose their finalizer.
	require.Equal(t, []string{"namespaces", "persistentvolumes", "nodes", "bucketfleets", "persistentfleets", "storagereservations"}, resources)
	var namespaces []string
	for _, o := range all {
		if role, ok := o.(*rbacv1.Role); ok && role.Name == "fleetwright-healer-fleets" {
			namespaces = append(namespaces, role.Namespace)
			require.ElementsMatch(t, want, slices.Concat(cluster, role.Rules))
		}
		if binding, ok := o.(*rbacv1.RoleBinding); ok && binding.Name == "fleetwright-healer-fleets" {
			require.Equal(t, "fleetwright-system", binding.Subjects[0].Namespace)
			require.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: binding.Name}, binding.RoleRef)
		}
	}
	require.Equal(t, []string{"fleets", "fleetwright-system"}, namespaces)
}

func TestDefinitions(t *testing.T) {
	all := objects(t, "fleetwright-system", "")
	entries, err := crd.Files.ReadDir(".")
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		text, err := crd.Files.ReadFile(entry.Name())
		require.NoError(t, err)
		want := decode(t, string(text))[0].(*apiextensionsv1.CustomResourceDefinition)
		got := find[*apiextensionsv1.CustomResourceDefinition](t, all, want.Name)
		require.Equal(t, "keep", got.Annotations["helm.sh/resource-policy"])
		delete(got.Annotations, "helm.sh/resource-policy")
		require.Equal(t, want, got)
	}
}

// Wherever the definitions are installed, and stay, the policy is and stays.
func TestPolicy(t *testing.T) {
	all := objects(t, "fleetwright-system", "")
	for _, want := range decode(t, string(read(t, "config/policy/fields.yaml"))) {
		switch want := want.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			got := find[*admissionregistrationv1.ValidatingAdmissionPolicy](t, all, want.Name)
			require.Equal(t, "keep", got.Annotations["helm.sh/resource-policy"])
			require.Equal(t, want.Spec, got.Spec)
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			got := find[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, all, want.Name)
			require.Equal(t, "keep", got.Annotations["helm.sh/resource-policy"])
			require.Equal(t, want.Spec, got.Spec)
		default:
			require.Fail(t, "what is this", "%T", want)
		}
	}
	for _, o := range objects(t, "fleetwright-system", "crds: {enabled: false}") {
		_, isPolicy := o.(*admissionregistrationv1.ValidatingAdmissionPolicy)
		require.False(t, isPolicy)
	}
}

func TestRotate(t *testing.T) {
	all := objects(t, "fleetwright-system", "")
	want := decode(t, string(read(t, "config/webhook/configuration.yaml")))[0].(*admissionregistrationv1.ValidatingWebhookConfiguration)
	got := find[*admissionregistrationv1.ValidatingWebhookConfiguration](t, all, want.Name)
	require.Equal(t, want.Webhooks, got.Webhooks)
	require.Empty(t, got.Annotations)
	require.NotContains(t, render(t, "fleetwright-system", ""), "caBundle:")
	port := got.Webhooks[0].ClientConfig.Service
	service := find[*corev1.Service](t, all, port.Name)
	require.Equal(t, *port.Port, service.Spec.Ports[0].Port)
	secret := find[*corev1.Secret](t, all, "fleetwright-webhook-tls")
	require.Nil(t, secret.Data, "keys are the webhook's own")
	require.Nil(t, secret.StringData)
	require.Equal(t, corev1.SecretTypeOpaque, secret.Type)
	require.Contains(t, find[*appsv1.Deployment](t, all, "fleetwright-webhook").Spec.Template.Spec.Containers[0].Args, "--tls=rotate")
}

func TestCertManager(t *testing.T) {
	all := objects(t, "elsewhere", "webhook: {certificates: cert-manager}")
	configuration := find[*admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "fleetwright-webhook")
	require.Equal(t, "elsewhere/fleetwright-webhook", configuration.Annotations["cert-manager.io/inject-ca-from"])
	certificate := find[*certmanagerv1.Certificate](t, all, "fleetwright-webhook")
	require.Contains(t, certificate.Spec.DNSNames, "fleetwright-webhook.elsewhere.svc")
	volumes := find[*appsv1.Deployment](t, all, "fleetwright-webhook").Spec.Template.Spec.Volumes
	require.Equal(t, certificate.Spec.SecretName, volumes[1].Secret.SecretName)
	// The chain: a certificate, by an issuer, with the key of an authority, which signed itself.
	issuer := find[*certmanagerv1.Issuer](t, all, certificate.Spec.IssuerRef.Name)
	authority := find[*certmanagerv1.Certificate](t, all, "fleetwright-webhook-authority")
	require.True(t, authority.Spec.IsCA)
	require.Equal(t, authority.Spec.SecretName, issuer.Spec.CA.SecretName)
	require.NotNil(t, find[*certmanagerv1.Issuer](t, all, authority.Spec.IssuerRef.Name).Spec.SelfSigned)
	// Nothing is written by the webhook, and there is no Secret to fill in.
	for _, rule := range find[*rbacv1.ClusterRole](t, all, "fleetwright-webhook").Rules {
		require.Subset(t, []string{"get", "list", "watch"}, rule.Verbs)
	}
	_, role := lookFor[*rbacv1.Role](all, "fleetwright-webhook")
	_, secret := lookFor[*corev1.Secret](all, "fleetwright-webhook-tls")
	require.False(t, role || secret)
}
