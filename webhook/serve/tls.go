// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fleetwright/fleetwright/webhook/registration"
)

// The Secret is shipped empty and filled in here; the rotator watches all of its namespace. Of the configuration only its
// caBundle is written.
//
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=fleetwright-webhook,verbs=update
// +kubebuilder:rbac:groups="",namespace=fleetwright-system,resources=secrets,verbs=list;watch
// +kubebuilder:rbac:groups="",namespace=fleetwright-system,resources=secrets,resourceNames=fleetwright-webhook-tls,verbs=update

const (
	secretName = registration.Name + "-tls"
	certFile   = "tls.crt"
	keyFile    = "tls.key"
)

func serviceName(namespace string) string { return registration.Name + "." + namespace + ".svc" }

// addCertificates feeds the certificates: what the API server trusts from the configuration, and what is served from the
// rotator's Secret or from files. The directory is the rotator's own.
func addCertificates(ctx context.Context, mgr manager.Manager, certs *certificates, dir string, o Options, s Seams) error {
	err := onChange(ctx, mgr.GetCache(), &admissionregistrationv1.ValidatingWebhookConfiguration{},
		func(c *admissionregistrationv1.ValidatingWebhookConfiguration, there bool) {
			bundles := make([][]byte, len(c.Webhooks))
			for i := range c.Webhooks {
				bundles[i] = c.Webhooks[i].ClientConfig.CABundle
			}
			if !there {
				bundles = nil
			}
			certs.trust(bundles)
		})
	if err != nil {
		return err
	}
	if o.TLS == TLSFiles {
		return addFiles(mgr, certs, o.CertDir)
	}
	return addRotator(ctx, mgr, certs, dir, o.Namespace, s)
}

// addFiles serves a certificate that somebody else renews, such as cert-manager.
func addFiles(mgr manager.Manager, certs *certificates, dir string) error {
	watcher, err := certwatcher.New(filepath.Join(dir, certFile), filepath.Join(dir, keyFile))
	if err != nil {
		return fmt.Errorf("reading the certificate from %s: %w", dir, err)
	}
	watcher.RegisterCallback(func(certificate tls.Certificate) { offer(certs, &certificate) })
	return mgr.Add(watcher)
}

func offer(certs *certificates, certificate *tls.Certificate) {
	if err := certs.offer(certificate); err != nil {
		log.Log.Error(err, "the certificate cannot be served")
	}
}

// onChange calls back with each state of the only object of a kind that is watched.
func onChange[T client.Object](ctx context.Context, c cache.Cache, object T, call func(object T, there bool)) error {
	informer, err := c.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if typed, ok := o.(T); ok {
				call(typed, true)
			}
		},
		UpdateFunc: func(_, o any) {
			if typed, ok := o.(T); ok {
				call(typed, true)
			}
		},
		DeleteFunc: func(any) { call(object, false) },
	})
	return err
}
