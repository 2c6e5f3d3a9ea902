// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	both, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(both.Certificate[0])
	require.NoError(t, err)
	return cert
}

func TestCertificates(t *testing.T) {
	authority, err := NewAuthority("authority")
	require.NoError(t, err)
	other, err := NewAuthority("other")
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority.Cert))

	pair, err := authority.Server("server", "127.0.0.1", "localhost")
	require.NoError(t, err)
	server := parse(t, pair)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		_, err = server.Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
		require.NoError(t, err)
	}
	_, err = server.Verify(x509.VerifyOptions{Roots: roots, DNSName: "elsewhere"})
	require.Error(t, err)

	pair, err = authority.Client("jane", "readers", "writers")
	require.NoError(t, err)
	jane := parse(t, pair)
	require.Equal(t, "jane", jane.Subject.CommonName)
	require.Equal(t, []string{"readers", "writers"}, jane.Subject.Organization)
	asClient := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	_, err = jane.Verify(asClient)
	require.NoError(t, err)
	_, err = server.Verify(asClient)
	require.Error(t, err, "a server is no client")

	pair, err = other.Client("jane")
	require.NoError(t, err)
	_, err = parse(t, pair).Verify(asClient)
	require.Error(t, err, "of another authority")
}

func TestSigningKey(t *testing.T) {
	private, public, err := SigningKey()
	require.NoError(t, err)
	require.Contains(t, string(private), "BEGIN EC PRIVATE KEY")
	require.Contains(t, string(public), "BEGIN PUBLIC KEY")
}
