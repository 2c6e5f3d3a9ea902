// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates of a test control plane from an
// authority of its own.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is long enough for a cluster that a developer keeps for a while.
const lifetime = 30 * 24 * time.Hour

// Pair is a certificate and its key, in PEM.
type Pair struct{ Cert, Key []byte }

// Authority is a self-signed certificate authority.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	pair, der, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	return &Authority{Pair: pair, cert: cert, key: key}, nil
}

// Client issues a certificate that says who a client is: a user and groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return a.issue(pkix.Name{CommonName: user, Organization: groups}, x509.ExtKeyUsageClientAuth, nil)
}

// Server issues a certificate for a server at these addresses.
func (a *Authority) Server(name string, hosts ...string) (Pair, error) {
	return a.issue(pkix.Name{CommonName: name}, x509.ExtKeyUsageServerAuth, hosts)
}

func (a *Authority) issue(subject pkix.Name, usage x509.ExtKeyUsage, hosts []string) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template, err := newTemplate(subject)
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	pair, _, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate for %s: %w", subject.CommonName, err)
	}
	return pair, nil
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}, nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (Pair, []byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, nil, err
	}
	encodedKey, err := encodeKey(key)
	if err != nil {
		return Pair{}, nil, err
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: encodedKey}, der, nil
}

// SigningKey makes a key for service account tokens: the private key signs,
// the public key checks.
func SigningKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	private, err = encodeKey(key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
