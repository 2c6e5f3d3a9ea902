// SPDX-License-Identifier: Apache-2.0

// Package serve runs the webhook: a server with certificates that rotate, health, metrics, and a stop that refuses nobody.
//
// Every replica serves; none of them leads. A replica is ready once its certificate verifies against what the API server
// was given, and what it watches is there.
package serve

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seams"
	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// Sources of the certificate.
const (
	TLSRotate = "rotate" // made, and renewed, by the webhook itself
	TLSFiles  = "files"  // made by somebody else, and read again when they change
)

// DefaultHealer is the user name of the healer.
const DefaultHealer = "system:serviceaccount:fleetwright-system:fleetwright-healer"

// Options of the webhook, each of them a flag of the program.
type Options struct {
	Healer    string // user name
	Namespace string // of the Service and the Secret

	Address        string // HOST:PORT of reviews
	MetricsAddress string // 0 for none
	ProbeAddress   string // 0 for none

	TLS     string // TLSRotate or TLSFiles
	CertDir string // of TLSFiles: tls.crt and tls.key

	// DrainDelay is how long a replica that stops goes on serving while its endpoint is taken away everywhere.
	DrainDelay time.Duration
}

// Default returns the options of a Pod.
func Default() Options {
	return Options{
		Healer: DefaultHealer, Namespace: registration.DefaultNamespace,
		Address: ":9443", MetricsAddress: ":8080", ProbeAddress: ":8081",
		TLS: TLSRotate, CertDir: "/tls", DrainDelay: 10 * time.Second,
	}
}

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	switch {
	case o.TLS != TLSRotate && o.TLS != TLSFiles:
		return fmt.Errorf("--tls %q: must be %s or %s", o.TLS, TLSRotate, TLSFiles)
	case o.Healer == "":
		return fmt.Errorf("--healer-identity is empty: without it the healer could not work; the default is %s", DefaultHealer)
	case o.Namespace == "":
		return fmt.Errorf("--namespace is empty: it is that of the webhook's Service and Secret")
	case o.DrainDelay < 0:
		return fmt.Errorf("--drain-delay %s: must not be negative", o.DrainDelay)
	default:
		return nil
	}
}

// Run serves until the context ends, then drains and stops.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server bounds its clients itself, and knows better when; a review cannot wait its turn here
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	registry := seams.Of[seams.Webhook](ctx).Registry
	if registry == nil {
		registry = ctrlmetrics.Registry
	}
	metrics, err := webhook.NewMetrics(registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	c := clock.RealClock{}
	certs := newCertificates(c, metrics, serviceName(o.Namespace))
	space, err := os.MkdirTemp("", registration.Name+"-")
	if err != nil {
		return fmt.Errorf("a directory for the rotator: %w", err)
	}
	defer func() { _ = os.RemoveAll(space) }()
	if err := addCertificates(ctx, mgr, certs, space, o); err != nil {
		return fmt.Errorf("setting up certificates: %w", err)
	}
	reader := &webhook.Reader{Cached: mgr.GetCache(), Live: mgr.GetAPIReader(), Metrics: metrics}
	handler := webhook.NewHandler(o.Healer, reader, metrics, c, log.Log.WithName("webhook"))
	if err := mgr.Add(&server{address: o.Address, handler: handler, certs: certs}); err != nil {
		return err
	}

	var draining atomic.Bool
	checks := map[string]healthz.Checker{
		"certificate": certs.ready, "watching": watching(mgr.GetCache()), "draining": notDraining(&draining),
	}
	for name, check := range checks {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return err
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		<-ctx.Done()
		draining.Store(true)
		log.Log.Info("draining", "for", o.DrainDelay.String())
		<-c.After(o.DrainDelay)
		stop()
	}()
	return mgr.Start(stopping)
}

// newManager watches as little as the webhook needs: fleets and reservations without what no rule reads, and the one
// configuration and Secret that certificates take.
func newManager(config *rest.Config, o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	byObject := map[client.Object]cache.ByObject{
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {Field: fields.OneTermEqualSelector("metadata.name", registration.Name)},
		&corev1.Secret{}: {Namespaces: map[string]cache.Config{
			o.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", secretName)},
		}},
	}
	for _, object := range watched() {
		byObject[object] = cache.ByObject{Transform: slim}
	}
	return manager.New(config, manager.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{ByObject: byObject},
		Metrics:                metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress: o.ProbeAddress,
	})
}

// watched are the kinds that facts are read of from a cache.
func watched() []client.Object {
	kinds := append(v1alpha1.FleetKinds(), v1alpha1.KindStorageReservation)
	out := make([]client.Object, len(kinds))
	for i, kind := range kinds {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		out[i] = u
	}
	return out
}

// slim keeps of a watched object what facts are made of.
func slim(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	delete(u.Object, "status")
	u.SetManagedFields(nil)
	protect, protected := u.GetAnnotations()[v1alpha1.AnnotationProtect]
	u.SetAnnotations(nil)
	if protected {
		u.SetAnnotations(map[string]string{v1alpha1.AnnotationProtect: protect})
	}
	if spec, ok := u.Object["spec"].(map[string]any); ok {
		for key := range spec {
			switch key {
			case "bucket", "fleet", "identity", "maintenance", "replicas", "storage", "workload":
			default:
				delete(spec, key)
			}
		}
	}
	return u, nil
}
