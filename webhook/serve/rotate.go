// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fleetwright/fleetwright/webhook/registration"
)

// addRotator makes and renews a certificate in a Secret. It is served from the Secret itself: a mounted file would follow
// it a minute later. The rotator waits for a file all the same, so it gets one, without the key, in a directory of its own.
func addRotator(ctx context.Context, mgr manager.Manager, certs *certificates, dir, namespace string, s Seams) error {
	err := onChange(ctx, mgr.GetCache(), &corev1.Secret{}, func(secret *corev1.Secret, there bool) {
		if !there || len(secret.Data[certFile]) == 0 {
			return // what is served stays good until it expires
		}
		certificate, err := tls.X509KeyPair(secret.Data[certFile], secret.Data[keyFile])
		if err != nil {
			log.Log.Error(err, "the Secret holds no certificate that can be served", "secret", secret.Name)
			return
		}
		offer(certs, &certificate)
		if err := os.WriteFile(filepath.Join(dir, certFile), secret.Data[certFile], 0o600); err != nil {
			log.Log.Error(err, "the rotator waits for this file")
		}
	})
	if err != nil {
		return err
	}
	name := serviceName(namespace)
	return rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: namespace, Name: secretName},
		CertDir:        dir,
		CAName:         registration.Name + "-ca",
		CAOrganization: "fleetwright",
		DNSName:        name,
		ExtraDNSNames:  append([]string{name + ".cluster.local"}, s.DNSNames...),
		IsReady:        make(chan struct{}),
		Webhooks:       []rotator.WebhookInfo{{Name: registration.Name, Type: rotator.Validating}},
		FieldOwner:     registration.Name,
		ControllerName: "cert-rotator" + s.Instance,
		// Every replica rotates; the Secret's resource version lets one of them win.
		RequireLeaderElection:  false,
		CaCertDuration:         s.Rotation.Authority,
		ServerCertDuration:     s.Rotation.Certificate,
		LookaheadInterval:      s.Rotation.Lookahead,
		RotationCheckFrequency: s.Rotation.Check,
	})
}
