// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigFor returns a client configuration for a user in groups, who may do
// what RBAC grants them and nothing else.
func (c *Cluster) ConfigFor(tb testing.TB, user string, groups ...string) *rest.Config {
	tb.Helper()
	if c.existing {
		return c.impersonating(user, groups...)
	}
	config, err := c.configFor(user, groups...)
	if err != nil {
		tb.Fatalf("a certificate for %s: %v", user, err)
	}
	return config
}

// ServiceAccountConfig returns a client configuration for a service account,
// with a token that the API server issued.
func (c *Cluster) ServiceAccountConfig(tb testing.TB, namespace, name string) *rest.Config {
	tb.Helper()
	config, err := c.ServiceAccount(tb.Context(), namespace, name)
	if err != nil {
		tb.Fatal(err)
	}
	return config
}

// ServiceAccount is ServiceAccountConfig outside tests. The token lives a day.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	request, err := c.Kubernetes.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}},
		metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("a token for service account %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(c.Config)
	config.QPS = -1
	config.BearerToken = request.Status.Token
	return config, nil
}

// NewClient makes a client without a cache from a configuration.
func NewClient(tb testing.TB, config *rest.Config) client.Client {
	tb.Helper()
	made, err := client.New(config, client.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}
