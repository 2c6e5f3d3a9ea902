// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// service is the application's address: ready members, port 8080.
func (b *builder) service() *corev1.Service {
	return b.newService(b.name, corev1.ServicePort{
		Name: v1alpha1.PortApplication, Protocol: corev1.ProtocolTCP,
		Port: v1alpha1.ApplicationPort, TargetPort: intstr.FromString(v1alpha1.PortApplication),
	})
}

// peerService gives members stable names before they are ready: a member needs its peers to become ready.
func (b *builder) peerService() *corev1.Service {
	s := b.newService(PeerServiceName(b.name), corev1.ServicePort{
		Name: v1alpha1.PortPeer, Protocol: corev1.ProtocolTCP, AppProtocol: ptrTo("tcp"),
		Port: v1alpha1.PeerPort, TargetPort: intstr.FromString(v1alpha1.PortPeer),
	})
	s.Spec.ClusterIP = corev1.ClusterIPNone
	s.Spec.PublishNotReadyAddresses = true
	return s
}

func (b *builder) newService(name string, port corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   typeMeta("v1", "Service"),
		ObjectMeta: b.meta(name),
		Spec: corev1.ServiceSpec{
			Ports:                 []corev1.ServicePort{port},
			Selector:              b.selector(),
			Type:                  corev1.ServiceTypeClusterIP,
			IPFamilyPolicy:        ptrTo(corev1.IPFamilyPolicySingleStack),
			SessionAffinity:       corev1.ServiceAffinityNone,
			InternalTrafficPolicy: ptrTo(corev1.ServiceInternalTrafficPolicyCluster),
		},
	}
}
