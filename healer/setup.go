// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seams"
	"github.com/fleetwright/fleetwright/render"
)

// What the healer may do. The rules are the whole of it: test/cluster/heal runs the healer with them and nothing else.
//
// +kubebuilder:rbac:groups=celld.eric.dev,resources=persistentfleets;bucketfleets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=celld.eric.dev,resources=persistentfleets/status;bucketfleets/status,verbs=patch
// +kubebuilder:rbac:groups=celld.eric.dev,resources=storagereservations,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=apps,resources=statefulsets;deployments,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=get
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=list;watch
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=fleetwright-system,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups="",namespace=fleetwright-system,resources=events,verbs=create;patch

// AddToScheme registers every type that the healer reads or writes.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, gatewayv1.Install} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	return nil
}

// Options of a running healer.
type Options struct {
	// Concurrency is how many fleets of a kind are worked on in parallel. Default 4.
	Concurrency int
}

const (
	defaultConcurrency = 4
	firstRetry         = 100 * time.Millisecond
	slowestRetry       = time.Minute
	identityIndex      = "identity"
	reservationIndex   = "reservation"
)

// Setup adds the healer to a manager whose cache was made with CacheOptions.
func (h *Healer) Setup(ctx context.Context, mgr manager.Manager, o Options) error {
	h.views, h.tries, h.memory = newViews(), newTries(), newMemory(h.Clock, h.Policy)
	if err := h.watchPods(ctx, mgr); err != nil {
		return fmt.Errorf("watching Pods: %w", err)
	}
	if h.Zone == nil {
		h.Zone = nodeZones(ctx, mgr.GetCache())
	}
	if h.Nodes == nil {
		h.Nodes = zoneNodes(mgr.GetCache())
	}
	for _, kind := range v1alpha1.FleetKinds() {
		fleet := v1alpha1.NewFleet(kind)
		if err := index(ctx, mgr, fleet); err != nil {
			return fmt.Errorf("indexing %s: %w", kind, err)
		}
		if err := h.control(ctx, mgr, kind, fleet, o); err != nil {
			return fmt.Errorf("watching %s: %w", kind, err)
		}
	}
	return nil
}

// watchPods notes what becomes of Pods, whether this healer leads or stands by.
func (h *Healer) watchPods(ctx context.Context, mgr manager.Manager) error {
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	shown := seams.Of[seams.Healer](ctx).Shown
	to := func(note func(*corev1.Pod)) func(any) {
		return func(o any) {
			if last, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			pod, ok := o.(*corev1.Pod)
			if !ok {
				return
			}
			if shown != nil {
				pod = pod.DeepCopy()
				shown(pod)
			}
			note(pod)
		}
	}
	observed := to(h.memory.observed)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: observed, UpdateFunc: func(_, o any) { observed(o) }, DeleteFunc: to(h.memory.gone),
	})
	return err
}

func index(ctx context.Context, mgr manager.Manager, fleet v1alpha1.Fleet) error {
	for name, key := range map[string]func(v1alpha1.Fleet) string{
		identityIndex:    render.Identity,
		reservationIndex: func(f v1alpha1.Fleet) string { return render.ReservationName(f.Store().BucketURL()) },
	} {
		err := mgr.GetFieldIndexer().IndexField(ctx, fleet, name, func(o client.Object) []string {
			f, ok := o.(v1alpha1.Fleet)
			if !ok {
				return nil
			}
			return []string{key(f)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// control looks after the fleets of one kind.
func (h *Healer) control(ctx context.Context, mgr manager.Manager, kind string, fleet v1alpha1.Fleet, o Options) error {
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	seam := seams.Of[seams.Healer](ctx)
	if seam.QueueClock == nil {
		seam.QueueClock = clock.RealClock{}
	}
	logger := mgr.GetLogger().WithName("healer")
	c, err := controller.NewTyped(kind, mgr, controller.TypedOptions[Request]{
		Reconciler:              h,
		MaxConcurrentReconciles: o.Concurrency,
		ReconciliationTimeout:   lookTimeout,
		SkipNameValidation:      &seam.Several,
		LogConstructor:          func(r *Request) logr.Logger { return logFor(logger, r) },
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[Request](firstRetry, slowestRetry),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[Request]) workqueue.TypedRateLimitingInterface[Request] {
			return workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
				workqueue.TypedRateLimitingQueueConfig[Request]{Name: name, Clock: seam.QueueClock})
		},
	})
	if err != nil {
		return err
	}
	w := &watcher{mgr: mgr, controller: c, kind: kind}
	if err := w.watch(fleet, func(_ context.Context, o client.Object) []Request {
		return []Request{{Kind: kind, NamespacedName: client.ObjectKeyFromObject(o)}}
	}, fleetChanged); err != nil {
		return err
	}
	if err := w.watch(&v1alpha1.StorageReservation{}, w.byReservation); err != nil {
		return err
	}
	for _, object := range watched(kind) {
		if err := w.watch(object, w.byIdentity); err != nil {
			return err
		}
	}
	h.routes = append(h.routes, w.watchRoutes)
	return w.watchRoutes()
}

// watched lists what belongs to a fleet of a kind.
func watched(kind string) []client.Object {
	objects := []client.Object{&appsv1.StatefulSet{}, &corev1.Pod{}, &networkingv1.Ingress{}}
	for _, gvk := range []struct{ version, kind string }{
		{policyv1.SchemeGroupVersion.String(), "PodDisruptionBudget"},
		{networkingv1.SchemeGroupVersion.String(), "NetworkPolicy"},
		{corev1.SchemeGroupVersion.String(), "Service"},
	} {
		objects = append(objects, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: gvk.version, Kind: gvk.kind}})
	}
	if kind == v1alpha1.KindPersistentFleet {
		return append(objects, &corev1.PersistentVolumeClaim{})
	}
	return append(objects, &appsv1.Deployment{})
}

// A watcher turns changes of objects into requests for fleets of one kind.
type watcher struct {
	mgr        manager.Manager
	controller controller.TypedController[Request]
	kind       string

	mu     sync.Mutex
	routes bool
}

func (w *watcher) watch(
	object client.Object, requests handler.TypedMapFunc[client.Object, Request], only ...predicate.TypedPredicate[client.Object],
) error {
	return w.controller.Watch(source.TypedKind(w.mgr.GetCache(), object, handler.TypedEnqueueRequestsFromMapFunc(requests), only...))
}

// watchRoutes starts to watch HTTPRoutes once the cluster knows them.
func (w *watcher) watchRoutes() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.routes {
		return nil
	}
	gvk := schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: gatewayv1.GroupVersion.Version, Kind: "HTTPRoute"}
	if _, err := w.mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
		return nil // the condition RoutingReady tells, and fleets with a gateway try again
	}
	w.routes = true
	return w.watch(&gatewayv1.HTTPRoute{}, w.byIdentity)
}

func (w *watcher) byIdentity(ctx context.Context, o client.Object) []Request {
	return w.fleets(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{identityIndex: o.GetLabels()[v1alpha1.LabelFleetUID]})
}

func (w *watcher) byReservation(ctx context.Context, o client.Object) []Request {
	return w.fleets(ctx, client.MatchingFields{reservationIndex: o.GetName()})
}

func (w *watcher) fleets(ctx context.Context, options ...client.ListOption) []Request {
	var out []Request
	add := func(f v1alpha1.Fleet) {
		out = append(out, Request{Kind: w.kind, NamespacedName: client.ObjectKeyFromObject(f)})
	}
	switch w.kind {
	case v1alpha1.KindPersistentFleet:
		var list v1alpha1.PersistentFleetList
		if err := w.mgr.GetCache().List(ctx, &list, options...); err != nil {
			w.mgr.GetLogger().Error(err, "finding the fleets of a change")
		}
		for i := range list.Items {
			add(&list.Items[i])
		}
	default:
		var list v1alpha1.BucketFleetList
		if err := w.mgr.GetCache().List(ctx, &list, options...); err != nil {
			w.mgr.GetLogger().Error(err, "finding the fleets of a change")
		}
		for i := range list.Items {
			add(&list.Items[i])
		}
	}
	return out
}

// fleetChanged leaves out what the healer itself writes: the status, and the finalizer that it adds. An annotation does not change
// the generation.
var fleetChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
		e.ObjectOld.GetAnnotations()[v1alpha1.AnnotationProtect] != e.ObjectNew.GetAnnotations()[v1alpha1.AnnotationProtect] ||
		len(e.ObjectOld.GetFinalizers()) > len(e.ObjectNew.GetFinalizers()) ||
		e.ObjectNew.GetDeletionTimestamp() != nil && len(e.ObjectOld.GetFinalizers()) != len(e.ObjectNew.GetFinalizers())
}}
