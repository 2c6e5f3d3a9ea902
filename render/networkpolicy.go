// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const (
	httpsPort = 443
	dnsPort   = 53
	// Credential endpoints of the clouds: EKS Pod Identity, and the instance metadata address of Google and Azure.
	eksCredentials  = "169.254.170.23/32"
	metadataAddress = "169.254.169.254/32"
	credentialsPort = 80
)

// networkPolicy is the only protection of port 8081, whose operator API has no authentication.
func (b *builder) networkPolicy() *networkingv1.NetworkPolicy {
	return b.newPolicy(b.name, networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{
				From: []networkingv1.NetworkPolicyPeer{
					b.ownPods(), pods(b.healerNS, map[string]string{v1alpha1.LabelAppName: v1alpha1.HealerAppName}),
				},
				Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.PeerPort)},
			},
			{
				From:  []networkingv1.NetworkPolicyPeer{pods("", map[string]string{v1alpha1.LabelClientOf: b.name})},
				Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.ApplicationPort)},
			},
		},
		Egress:      b.egress(),
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
	})
}

func (b *builder) newPolicy(name string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	spec.PodSelector = *b.labelSelector()
	return &networkingv1.NetworkPolicy{
		TypeMeta: typeMeta("networking.k8s.io/v1", "NetworkPolicy"), ObjectMeta: b.meta(name), Spec: spec,
	}
}

func (b *builder) egress() []networkingv1.NetworkPolicyEgressRule {
	dns := b.spec.Network.DNS
	rules := []networkingv1.NetworkPolicyEgressRule{
		{To: []networkingv1.NetworkPolicyPeer{b.ownPods()}, Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.PeerPort)}},
		{
			To:    []networkingv1.NetworkPolicyPeer{pods(dns.Namespace, dns.PodLabels)},
			Ports: []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP, dnsPort), tcp(dnsPort)},
		},
		// The object store and the clouds' token services have no fixed addresses.
		{Ports: []networkingv1.NetworkPolicyPort{tcp(httpsPort)}},
	}
	if address := credentialAddress(b.spec.Network.Credentials); address != "" {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{
			To: []networkingv1.NetworkPolicyPeer{block(address)}, Ports: []networkingv1.NetworkPolicyPort{tcp(credentialsPort)},
		})
	}
	if e := b.store.Endpoint; e.URL != "" && v1alpha1.URLPort(e.URL) != httpsPort {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{
			Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.URLPort(e.URL))},
		})
	}
	if t := &b.spec.Telemetry; t.Enabled() {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{
			To: []networkingv1.NetworkPolicyPeer{b.collector()}, Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.URLPort(t.CollectorURL))},
		})
	}
	for _, rule := range b.spec.Network.ExtraEgress {
		rules = append(rules, withProtocols(rule))
	}
	return rules
}

func (b *builder) collector() networkingv1.NetworkPolicyPeer {
	e := b.spec.Telemetry.Egress
	if e.CIDR != "" {
		return block(e.CIDR)
	}
	return pods(e.Namespace, e.PodLabels)
}

func credentialAddress(source v1alpha1.CredentialSource) string {
	switch source {
	case v1alpha1.CredentialsEKS:
		return eksCredentials
	case v1alpha1.CredentialsGKE, v1alpha1.CredentialsAzure:
		return metadataAddress
	case v1alpha1.CredentialsNone:
		return ""
	default:
		return ""
	}
}

// withProtocols writes out the API server's default protocol.
func withProtocols(rule networkingv1.NetworkPolicyEgressRule) networkingv1.NetworkPolicyEgressRule {
	rule.Ports = slices.Clone(rule.Ports)
	for i := range rule.Ports {
		if rule.Ports[i].Protocol == nil {
			rule.Ports[i].Protocol = ptrTo(corev1.ProtocolTCP)
		}
	}
	return rule
}

func (b *builder) ownPods() networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: b.labelSelector()}
}

// pods of a namespace, the fleet's own when empty.
func pods(namespace string, labels map[string]string) networkingv1.NetworkPolicyPeer {
	peer := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}
	if namespace != "" {
		peer.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	}
	return peer
}

func block(cidr string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}
}

func tcp(number int32) networkingv1.NetworkPolicyPort { return port(corev1.ProtocolTCP, number) }

func port(protocol corev1.Protocol, number int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptrTo(intstr.FromInt32(number))}
}
