// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/containers"
)

// requireWorking holds that the programs do what they are for with the rights
// that they got, and were forbidden nothing.
func requireWorking(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	cluster.Wait(t, "a healer to lead", leads(c))
	cluster.Wait(t, "the webhook to have its certificate", rotates(c))
	pods := &corev1.PodList{}
	require.NoError(t, c.Client.List(t.Context(), pods, client.InNamespace(system)))
	require.Len(t, pods.Items, 4)
	for i := range pods.Items {
		log := containers.Log(c, &pods.Items[i])
		said, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NotEmpty(t, said, log)
		require.NotContains(t, string(said), "forbidden", log)
		require.NotContains(t, string(said), "container: ", "it ended by itself: %s", log)
	}
}

// leads is whether a healer holds the lease.
func leads(c *cluster.Cluster) func(ctx) (bool, string) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "fleetwright-healer"}}
	return c.Object(lease, func() (bool, string) {
		return lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", lease.String()
	})
}

// rotates is whether the empty Secret and the configuration are filled in.
func rotates(c *cluster.Cluster) func(ctx) (bool, string) {
	return func(ctx ctx) (bool, string) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "fleetwright-webhook-tls"}}
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "fleetwright-webhook"}}
		for _, object := range []client.Object{secret, configuration} {
			if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return false, err.Error()
			}
		}
		for _, w := range configuration.Webhooks {
			if len(w.ClientConfig.CABundle) == 0 {
				return false, w.Name + " has no caBundle"
			}
		}
		return len(secret.Data["tls.key"]) > 0, fmt.Sprintf("the Secret has %d keys", len(secret.Data))
	}
}
