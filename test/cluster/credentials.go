// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetwright/fleetwright/test/cluster/internal/pki"
)

// serviceIP is the address of the Service kubernetes.default: the first one of
// the range that kube-apiserver is given.
const serviceIP = "10.96.0.1"

// programUsers are the users that the programs are known as. The names of the
// two control plane programs come with their RBAC rules.
var programUsers = map[string]string{
	"kube-controller-manager": "system:kube-controller-manager",
	"kube-scheduler":          "system:kube-scheduler",
	"kwok":                    "kwok",
}

// writeCredentials makes the authorities, the API server's certificates and
// the key of service account tokens.
func (c *Cluster) writeCredentials(context.Context) error {
	authority, err := pki.NewAuthority("fleetwright-test-ca")
	if err != nil {
		return err
	}
	c.authority = authority
	proxies, err := pki.NewAuthority("fleetwright-test-front-proxy-ca")
	if err != nil {
		return err
	}
	server, err := authority.Server("kube-apiserver", "127.0.0.1", "localhost", serviceIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return err
	}
	proxy, err := proxies.Client("front-proxy")
	if err != nil {
		return err
	}
	signing, checking, err := pki.SigningKey()
	if err != nil {
		return err
	}
	return c.write(map[string][]byte{
		"ca.crt": authority.Cert, "ca.key": authority.Key,
		"apiserver.crt": server.Cert, "apiserver.key": server.Key,
		"front-proxy-ca.crt": proxies.Cert,
		"front-proxy.crt":    proxy.Cert, "front-proxy.key": proxy.Key,
		"service-account.key": signing, "service-account.pub": checking,
	})
}

func (c *Cluster) write(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// configFor makes a client configuration for a user, known by a certificate.
// It has no limit of its own: a test should meet the server's.
func (c *Cluster) configFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:      c.url(),
		UserAgent: "fleetwright-test/" + user,
		QPS:       -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.authority.Cert, CertData: pair.Cert, KeyData: pair.Key,
		},
	}, nil
}

func (c *Cluster) url() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// writeKubeconfig writes <name>.kubeconfig for a user.
func (c *Cluster) writeKubeconfig(name, user string, groups ...string) error {
	config, err := c.configFor(user, groups...)
	if err != nil {
		return err
	}
	const context = "fleetwright-test"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[context] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData,
	}
	kubeconfig.AuthInfos[context] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
	}
	kubeconfig.Contexts[context] = &clientcmdapi.Context{Cluster: context, AuthInfo: context}
	kubeconfig.CurrentContext = context
	return clientcmd.WriteToFile(*kubeconfig, filepath.Join(c.dir, name+".kubeconfig"))
}
