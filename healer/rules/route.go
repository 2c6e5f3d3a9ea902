// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// Reasons of the condition RoutingReady.
const (
	routeReady      = "Routed"
	routeMissing    = "RouteMissing"
	routeNoAPI      = "GatewayAPIMissing"
	routeWaiting    = "WaitingForGateway"
	routeNoAddress  = "WaitingForAddress"
	routeNotAdapted = "RouteForeign"
)

// route reads the fleet's HTTPRoute or Ingress. It authorises nothing, so the caches are good enough.
func (o *Observer) route(ctx context.Context, f v1alpha1.Fleet, s *Snapshot, _ time.Time) error {
	routing := &f.Shared().Routing
	if !routing.Enabled() || o.Live {
		return nil
	}
	name := render.RoutingName(f.GetName())
	if routing.Gateway != nil {
		s.Route = &Route{Kind: KindHTTPRoute, Name: name}
		object, found, err := read[*gatewayv1.HTTPRoute](ctx, o.Objects, KindHTTPRoute, f.GetNamespace(), name)
		switch {
		case meta.IsNoMatchError(err):
			s.Route.set(false, routeNoAPI, "the cluster has no Gateway API; install its CRDs")
			s.Route.Unwatched = true
			return nil
		case found:
			s.Route.judge(object, s.Fleet.Identity, func() { s.Route.httpRoute(object) })
		case err == nil:
			s.Route.missing()
		}
		return err
	}
	s.Route = &Route{Kind: KindIngress, Name: name}
	object, found, err := read[*networkingv1.Ingress](ctx, o.Objects, KindIngress, f.GetNamespace(), name)
	switch {
	case found:
		s.Route.judge(object, s.Fleet.Identity, func() { s.Route.ingress(object) })
	case err == nil:
		s.Route.missing()
	}
	return err
}

func (r *Route) set(ready bool, reason, message string) {
	r.Ready, r.Reason, r.Message = ready, reason, message
}

func (r *Route) missing() {
	r.set(false, routeMissing, fmt.Sprintf("waiting for the sync tool to apply %s %s", r.Kind, r.Name))
}

func (r *Route) judge(o metav1.Object, identity string, status func()) {
	if why := foreign(o, identity); why != "" {
		r.set(false, routeNotAdapted, fmt.Sprintf("%s %s is not this fleet's: %s", r.Kind, r.Name, why))
		return
	}
	status()
}

// httpRoute is ready when a gateway has accepted this generation of it and resolved what it refers to.
func (r *Route) httpRoute(o *gatewayv1.HTTPRoute) {
	r.set(false, routeWaiting, fmt.Sprintf("no gateway has answered for HTTPRoute %s yet", r.Name))
	for _, parent := range o.Status.Parents {
		ready := true
		for _, of := range []gatewayv1.RouteConditionType{gatewayv1.RouteConditionAccepted, gatewayv1.RouteConditionResolvedRefs} {
			c := meta.FindStatusCondition(parent.Conditions, string(of))
			switch {
			case c == nil || c.ObservedGeneration != o.Generation:
				ready = false
			case c.Status != metav1.ConditionTrue:
				ready = false
				r.set(false, routeWaiting, Sentence(fmt.Sprintf("gateway %s: %s is %s", parent.ParentRef.Name, of, c.Status), c.Reason, c.Message))
			}
		}
		if ready {
			r.set(true, routeReady, fmt.Sprintf("gateway %s routes to the fleet", parent.ParentRef.Name))
			return
		}
	}
}

// ingress is ready when a controller has given it an address.
func (r *Route) ingress(o *networkingv1.Ingress) {
	for _, at := range o.Status.LoadBalancer.Ingress {
		if at.IP != "" || at.Hostname != "" {
			r.set(true, routeReady, "the ingress has address "+orElse(at.IP, at.Hostname))
			return
		}
	}
	r.set(false, routeNoAddress, fmt.Sprintf("no controller has given Ingress %s an address yet", r.Name))
}
