// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// certificates is what the server presents, and the authority that the API server was given to verify it with.
//
// A renewed certificate of another authority is held back until the configuration names that authority, so that the API
// server and this replica change over at the same moment.
type certificates struct {
	clock   clock.PassiveClock
	metrics *webhook.Metrics
	name    string // of the server, as the API server calls it

	mu      sync.RWMutex
	served  *tls.Certificate
	next    *tls.Certificate
	bundles [][]byte // of each entry of the configuration; nil until it was seen
}

func newCertificates(c clock.PassiveClock, metrics *webhook.Metrics, name string) *certificates {
	return &certificates{clock: c, metrics: metrics, name: name}
}

// get is what a handshake gets.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.served == nil {
		return nil, errors.New("there is no certificate yet")
	}
	return c.served, nil
}

// offer takes a certificate that was made or read.
func (c *certificates) offer(certificate *tls.Certificate) error {
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		return fmt.Errorf("parsing the certificate: %w", err)
	}
	certificate.Leaf = leaf
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = certificate
	c.choose()
	return nil
}

// trust takes what the API server was given.
func (c *certificates) trust(bundles [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bundles = bundles
	c.choose()
}

// choose serves the next certificate, unless the one that is served is still the only one of the two that verifies.
func (c *certificates) choose() {
	if c.next == nil || c.served != nil && c.verify(c.next) != nil && c.verify(c.served) == nil {
		return
	}
	c.served = c.next
	c.metrics.Certificate(c.served.Leaf.NotBefore, c.served.Leaf.NotAfter)
}

// verify checks a certificate as the API server does, against every entry.
func (c *certificates) verify(certificate *tls.Certificate) error {
	if len(c.bundles) == 0 {
		return fmt.Errorf("ValidatingWebhookConfiguration %s is missing: apply it", registration.Name)
	}
	var before []byte
	for _, bundle := range c.bundles {
		if before != nil && bytes.Equal(bundle, before) {
			continue
		}
		before = bundle
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(bundle) {
			return fmt.Errorf("ValidatingWebhookConfiguration %s has no caBundle yet", registration.Name)
		}
		intermediates := x509.NewCertPool()
		for _, der := range certificate.Certificate[1:] {
			if parsed, err := x509.ParseCertificate(der); err == nil {
				intermediates.AddCert(parsed)
			}
		}
		_, err := certificate.Leaf.Verify(x509.VerifyOptions{
			DNSName: c.name, Roots: roots, Intermediates: intermediates, CurrentTime: c.clock.Now(),
		})
		if err != nil {
			return fmt.Errorf("the served certificate does not verify against the caBundle of the configuration: %w", err)
		}
	}
	return nil
}

// ready is the readiness check: the API server can talk to this replica.
func (c *certificates) ready(*http.Request) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.served == nil {
		return errors.New("there is no certificate yet")
	}
	return c.verify(c.served)
}
