// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// routing publishes port 8080: a route, and a policy that admits the Pods that carry it.
func (b *builder) routing() []Resource {
	r := &b.spec.Routing
	if !r.Enabled() {
		return nil
	}
	var route Resource
	if r.Gateway != nil {
		route = b.httpRoute()
	} else {
		route = b.ingress()
	}
	return []Resource{route, b.newPolicy(RoutingName(b.name), networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{{
			From:  []networkingv1.NetworkPolicyPeer{pods(r.Source.Namespace, r.Source.PodLabels)},
			Ports: []networkingv1.NetworkPolicyPort{tcp(v1alpha1.ApplicationPort)},
		}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
	})}
}

func (b *builder) httpRoute() *gatewayv1.HTTPRoute {
	r := &b.spec.Routing
	parent := gatewayv1.ParentReference{
		Group: ptrTo(gatewayv1.Group(gatewayv1.GroupName)), Kind: ptrTo(gatewayv1.Kind("Gateway")),
		Name: gatewayv1.ObjectName(r.Gateway.Name),
	}
	if r.Gateway.Namespace != "" {
		parent.Namespace = ptrTo(gatewayv1.Namespace(r.Gateway.Namespace))
	}
	if r.Gateway.SectionName != "" {
		parent.SectionName = ptrTo(gatewayv1.SectionName(r.Gateway.SectionName))
	}
	route := &gatewayv1.HTTPRoute{
		TypeMeta:   typeMeta(gatewayv1.GroupVersion.String(), "HTTPRoute"),
		ObjectMeta: b.meta(RoutingName(b.name)),
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}},
			Rules: []gatewayv1.HTTPRouteRule{{
				Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{
					Type: ptrTo(gatewayv1.PathMatchPathPrefix), Value: ptrTo("/"),
				}}},
				BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{
					BackendObjectReference: gatewayv1.BackendObjectReference{
						Group: ptrTo(gatewayv1.Group("")), Kind: ptrTo(gatewayv1.Kind("Service")),
						Name: gatewayv1.ObjectName(b.name), Port: ptrTo(v1alpha1.ApplicationPort),
					},
					Weight: ptrTo[int32](1),
				}}},
			}},
		},
	}
	for _, h := range r.Hostnames {
		route.Spec.Hostnames = append(route.Spec.Hostnames, gatewayv1.Hostname(h))
	}
	return route
}

func (b *builder) ingress() *networkingv1.Ingress {
	r := &b.spec.Routing
	ingress := &networkingv1.Ingress{
		TypeMeta:   typeMeta("networking.k8s.io/v1", "Ingress"),
		ObjectMeta: b.meta(RoutingName(b.name)),
		Spec:       networkingv1.IngressSpec{IngressClassName: ptrTo(r.Ingress.ClassName)},
	}
	ingress.Annotations = maps.Clone(r.Ingress.Annotations)
	if secret := r.Ingress.TLSSecretName; secret != "" {
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: r.Hostnames, SecretName: secret}}
	}
	for _, h := range r.Hostnames {
		ingress.Spec.Rules = append(ingress.Spec.Rules, networkingv1.IngressRule{
			Host: h,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{
					Path: "/", PathType: ptrTo(networkingv1.PathTypePrefix),
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: b.name, Port: networkingv1.ServiceBackendPort{Number: v1alpha1.ApplicationPort},
					}},
				}},
			}},
		})
	}
	return ingress
}
