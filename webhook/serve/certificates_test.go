// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/webhook"
)

var now = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

const serverName = "fleetwright-webhook.fleetwright-system.svc"

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t: t, cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) sign(name string, lives time.Duration) *tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lives),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestCertificates(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	good := first.sign(serverName, time.Hour)
	renewed, others := first.sign(serverName, 2*time.Hour), second.sign(serverName, time.Hour)
	type step func(c *certificates)
	offer := func(cert *tls.Certificate) step { return func(c *certificates) { require.NoError(t, c.offer(cert)) } }
	trust := func(bundles ...[]byte) step { return func(c *certificates) { c.trust(bundles) } }
	tests := map[string]struct {
		steps  []step
		serves *tls.Certificate
		says   string // why it is not ready
	}{
		"nothing":                  {says: "there is no certificate yet"},
		"trusted first":            {steps: []step{trust(first.pem), offer(good)}, serves: good},
		"served first":             {steps: []step{offer(good), trust(first.pem, first.pem)}, serves: good},
		"no configuration":         {steps: []step{offer(good)}, serves: good, says: "ValidatingWebhookConfiguration fleetwright-webhook is missing"},
		"no bundle":                {steps: []step{offer(good), trust(nil, nil)}, serves: good, says: "has no caBundle yet"},
		"one bundle is missing":    {steps: []step{offer(good), trust(first.pem, nil)}, serves: good, says: "has no caBundle yet"},
		"garbage":                  {steps: []step{offer(good), trust([]byte("x"))}, serves: good, says: "has no caBundle yet"},
		"another authority":        {steps: []step{offer(good), trust(second.pem)}, serves: good, says: "does not verify"},
		"another name":             {steps: []step{offer(first.sign("a.b", time.Hour)), trust(first.pem)}, says: "does not verify"},
		"expired":                  {steps: []step{offer(first.sign(serverName, -time.Second)), trust(first.pem)}, says: "expired"},
		"renewed":                  {steps: []step{trust(first.pem), offer(good), offer(renewed)}, serves: renewed},
		"held back":                {steps: []step{trust(first.pem), offer(good), offer(others)}, serves: good},
		"and changed over":         {steps: []step{trust(first.pem), offer(good), offer(others), trust(second.pem)}, serves: others},
		"bundle first":             {steps: []step{trust(first.pem), offer(good), trust(second.pem), offer(others)}, serves: others},
		"both trusted":             {steps: []step{trust(first.pem), offer(good), trust(append(append([]byte{}, first.pem...), second.pem...)), offer(others)}, serves: others},
		"configuration taken away": {steps: []step{trust(first.pem), offer(good), trust()}, serves: good, says: "is missing: apply it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			metrics, err := webhook.NewMetrics(registry)
			require.NoError(t, err)
			c := newCertificates(testingclock.NewFakePassiveClock(now), metrics, serverName)
			for _, s := range tc.steps {
				s(c)
			}
			if tc.says == "" {
				require.NoError(t, c.ready(nil))
			} else {
				require.ErrorContains(t, c.ready(nil), tc.says)
			}
			got, err := c.get(nil)
			if len(tc.steps) == 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			if tc.serves != nil {
				require.Same(t, tc.serves, got)
			}
			require.InDelta(t, got.Leaf.NotBefore.Unix(), gauge(t, registry, "fleetwright_webhook_certificate_not_before_seconds"), 0)
			require.InDelta(t, got.Leaf.NotAfter.Unix(), gauge(t, registry, "fleetwright_webhook_certificate_not_after_seconds"), 0)
		})
	}
	c := newCertificates(testingclock.NewFakePassiveClock(now), nil, serverName)
	require.ErrorContains(t, c.offer(&tls.Certificate{Certificate: [][]byte{[]byte("x")}}), "parsing the certificate")
}

func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return 0
}
