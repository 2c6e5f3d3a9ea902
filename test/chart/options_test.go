// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// everything sets every value to something else than its default.
const everything = `
crds: {enabled: true}
fleetNamespaces: [fleets, more-fleets]
image: {repository: "registry.test:5000/fleetwright", tag: v9, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
healer:
  replicas: 3
  memberReplacementDelay: 1h30m
  concurrency: 1000000
  verbose: true
  resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}
  priorityClassName: system-cluster-critical
  nodeSelector: {disk: fast}
  tolerations: [{key: a, operator: Exists, effect: NoSchedule}]
  podAnnotations: {a: "true"}
webhook:
  replicas: 3
  failOpen: true
  certificates: cert-manager
  certManager: {issuerRef: {name: corporate, kind: ClusterIssuer}, duration: 24h, renewBefore: 8h}
  resources: {requests: null, limits: null}
  priorityClassName: system-cluster-critical
  nodeSelector: {disk: fast}
  tolerations: [{operator: Exists, tolerationSeconds: 60}]
  podAnnotations: {a: "1"}
networkPolicy:
  apiServerCIDRs: [10.0.0.0/28, "fd00::/64"]
  apiServerPorts: [7443]
  reviewsFrom: [{ipBlock: {cidr: 10.0.1.0/28}}, {namespaceSelector: {matchLabels: {a: b}}, podSelector: {matchLabels: {c: d}}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {a: b}}}]
metrics:
  serviceMonitor: {enabled: true, interval: 1m, labels: {release: prometheus}}
  prometheusRule: {enabled: true, labels: {release: prometheus}, runbooks: "https://runbooks.test/"}
  dashboard: {enabled: true, labels: {grafana: "1"}, annotations: {folder: celld}}
`

func TestEveryValueArrives(t *testing.T) {
	all := objects(t, "elsewhere", everything)
	for _, program := range []string{"healer", "webhook"} {
		d := find[*appsv1.Deployment](t, all, "fleetwright-"+program)
		pod := d.Spec.Template
		require.EqualValues(t, 3, *d.Spec.Replicas)
		require.Equal(t, "registry.test:5000/fleetwright:v9@sha256:0000000000000000000000000000000000000000000000000000000000000000",
			pod.Spec.Containers[0].Image)
		require.Equal(t, corev1.PullAlways, pod.Spec.Containers[0].ImagePullPolicy)
		require.Equal(t, []corev1.LocalObjectReference{{Name: "registry"}}, pod.Spec.ImagePullSecrets)
		require.Equal(t, "system-cluster-critical", pod.Spec.PriorityClassName)
		require.Equal(t, map[string]string{"disk": "fast"}, pod.Spec.NodeSelector)
		require.Len(t, pod.Spec.Tolerations, 1)
		require.Contains(t, pod.Annotations, "a")
		policy := find[*networkingv1.NetworkPolicy](t, all, "fleetwright-"+program)
		require.Equal(t, 7443, policy.Spec.Egress[0].Ports[0].Port.IntValue())
		require.Len(t, policy.Spec.Egress[0].To, 2)
	}
	healer := find[*appsv1.Deployment](t, all, "fleetwright-healer").Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"--leader-elect", "--member-replacement-delay=1h30m", "--concurrency=1000000",
		"--namespaces=fleets,more-fleets", "--verbose"}, healer.Args)
	require.Equal(t, "1Gi", healer.Resources.Limits.Memory().String())
	webhook := find[*appsv1.Deployment](t, all, "fleetwright-webhook").Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"--namespace=elsewhere", "--healer-identity=system:serviceaccount:elsewhere:fleetwright-healer",
		"--tls=files", "--cert-dir=/tls"}, webhook.Args)
	require.Empty(t, webhook.Resources)
	for _, w := range find[*admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "fleetwright-webhook").Webhooks {
		require.Equal(t, admissionregistrationv1.Ignore, *w.FailurePolicy)
		require.Equal(t, "elsewhere", w.ClientConfig.Service.Namespace)
	}
	peers := find[*networkingv1.NetworkPolicy](t, all, "fleetwright-healer").Spec.Egress[2].To
	require.Equal(t, []string{"fleets", "more-fleets"}, peers[0].NamespaceSelector.MatchExpressions[0].Values)
	reviews := find[*networkingv1.NetworkPolicy](t, all, "fleetwright-webhook").Spec.Ingress[1]
	require.Equal(t, "10.0.1.0/28", reviews.From[0].IPBlock.CIDR)
	require.Equal(t, "d", reviews.From[1].PodSelector.MatchLabels["c"])
	monitor := find[*monitoringv1.ServiceMonitor](t, all, "fleetwright")
	require.Equal(t, "prometheus", monitor.Labels["release"])
	require.EqualValues(t, "1m", monitor.Spec.Endpoints[0].Interval)
	require.Equal(t, "prometheus", find[*monitoringv1.PrometheusRule](t, all, "fleetwright").Labels["release"])
	dashboard := find[*corev1.ConfigMap](t, all, "fleetwright-dashboard")
	require.Equal(t, "1", dashboard.Labels["grafana"])
	require.Equal(t, "celld", dashboard.Annotations["folder"])
	certificate := find[*certmanagerv1.Certificate](t, all, "fleetwright-webhook")
	require.Equal(t, "corporate", certificate.Spec.IssuerRef.Name)
	require.Equal(t, "24h0m0s", certificate.Spec.Duration.Duration.String())
	_, own := lookFor[*certmanagerv1.Issuer](all, "fleetwright-webhook-authority")
	require.False(t, own, "an authority that nobody asked for")
	for _, o := range all {
		require.Contains(t, []string{"", "elsewhere", "fleets", "more-fleets"}, o.GetNamespace(), name(o))
	}
}

func TestLeftOut(t *testing.T) {
	all := objects(t, "fleetwright-system", `
crds: {enabled: false}
webhook: {enabled: false, certificates: cert-manager}
networkPolicy: {enabled: false}
metrics: {prometheusRule: {enabled: true}}
`)
	for _, o := range all {
		require.NotContains(t, o.GetName(), "webhook", name(o))
		switch o.(type) {
		case *apiextensionsv1.CustomResourceDefinition, *networkingv1.NetworkPolicy, *policyv1.PodDisruptionBudget:
			t.Error(name(o))
		}
	}
	require.Len(t, find[*monitoringv1.PrometheusRule](t, all, "fleetwright").Spec.Groups, 1)
	digest := `image: {digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}`
	require.Equal(t, "ghcr.io/fleetwright/fleetwright@sha256:0000000000000000000000000000000000000000000000000000000000000000",
		find[*appsv1.Deployment](t, objects(t, "x", digest), "fleetwright-healer").Spec.Template.Spec.Containers[0].Image)
}

// In many clusters reviews do not come from where requests go to: agents pass them on.
func TestReviewsComeFromElsewhere(t *testing.T) {
	tests := map[string]struct {
		values   string
		to, from int // peers of the API server's ports and of the port of reviews; none means any
	}{
		"neither":  {"", 0, 0},
		"requests": {"networkPolicy: {apiServerCIDRs: [10.0.0.0/28]}", 1, 0},
		"reviews":  {"networkPolicy: {reviewsFrom: [{podSelector: {}}]}", 0, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := find[*networkingv1.NetworkPolicy](t, objects(t, "x", tc.values), "fleetwright-webhook").Spec
			require.Len(t, policy.Egress[0].To, tc.to)
			require.Equal(t, 9443, policy.Ingress[1].Ports[0].Port.IntValue())
			require.Len(t, policy.Ingress[1].From, tc.from)
		})
	}
}

// What talks to what agrees: Services, policies, ports and probes.
func TestPorts(t *testing.T) {
	all := objects(t, "fleetwright-system", "")
	for _, program := range []string{"healer", "webhook"} {
		named := "fleetwright-" + program
		d := find[*appsv1.Deployment](t, all, named)
		labels := map[string]string{"app.kubernetes.io/name": named}
		require.Equal(t, labels, d.Spec.Selector.MatchLabels)
		require.Equal(t, labels, d.Spec.Template.Labels)
		container := d.Spec.Template.Spec.Containers[0]
		ports := map[string]int32{}
		for _, p := range container.Ports {
			ports[p.Name] = p.ContainerPort
		}
		service := find[*corev1.Service](t, all, named)
		require.Equal(t, labels, service.Spec.Selector)
		for _, p := range service.Spec.Ports {
			require.Contains(t, ports, p.TargetPort.String())
		}
		policy := find[*networkingv1.NetworkPolicy](t, all, named)
		require.Equal(t, labels, policy.Spec.PodSelector.MatchLabels)
		var admitted []int32
		for _, rule := range policy.Spec.Ingress {
			admitted = append(admitted, rule.Ports[0].Port.IntVal)
		}
		for _, port := range ports {
			require.Contains(t, admitted, port)
		}
		require.Equal(t, intstr.FromString("probes"), container.LivenessProbe.HTTPGet.Port)
		require.Equal(t, "/readyz", container.ReadinessProbe.HTTPGet.Path)
	}
	budget := find[*policyv1.PodDisruptionBudget](t, all, "fleetwright-webhook")
	require.Equal(t, "fleetwright-webhook", budget.Spec.Selector.MatchLabels["app.kubernetes.io/name"])
	require.Equal(t, 1, budget.Spec.MaxUnavailable.IntValue())
	members := find[*networkingv1.NetworkPolicy](t, all, "fleetwright-healer").Spec.Egress[2]
	require.Equal(t, 8081, members.Ports[0].Port.IntValue())
	require.Equal(t, "celld", members.To[0].PodSelector.MatchLabels["app.kubernetes.io/name"])
}
