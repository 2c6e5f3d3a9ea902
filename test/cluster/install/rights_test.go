// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// TestProgramsStart runs the programs outside the cluster, with the arguments
// of their Deployments and the rights of their service accounts: they are
// ready, nothing is forbidden, and they stop when told to.
func TestProgramsStart(t *testing.T) {
	c := shared.Cluster(t)
	kubectl(t, c, in(t, ways["plain YAML"].apply)...)
	defer func() { kubectl(t, c, in(t, ways["plain YAML"].remove)...) }()
	tests := map[string]struct {
		outside []string // arguments that a Pod needs not
		works   func(ctx) (bool, string)
	}{
		"fleetwright-healer":  {[]string{"--leader-election-namespace=" + system}, leads(c)},
		"fleetwright-webhook": {[]string{"--port=" + program.FreePort(t), "--drain-delay=1s"}, rotates(c)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}}
			cluster.Wait(t, "the Deployment", c.Object(d, func() (bool, string) { return true, "" }))
			pod := d.Spec.Template.Spec
			require.Equal(t, []string{"/" + name}, pod.Containers[0].Command)
			probes := "127.0.0.1:" + program.FreePort(t)
			flags := append(pod.Containers[0].Args, "--health-probe-bind-address="+probes, "--metrics-bind-address=0")
			p := program.Start(t, program.Build(t, c, name), c.ServiceAccountConfig(t, system, pod.ServiceAccountName),
				append(flags, tc.outside...)...)
			cluster.Wait(t, name+" to be ready", func(ctx ctx) (bool, string) {
				status, body := program.Get(ctx, probes, pod.Containers[0].ReadinessProbe.HTTPGet.Path+"?verbose")
				return status == http.StatusOK, body
			})
			cluster.Wait(t, name+" to work", tc.works)
			p.Stop(t)
			require.NotContains(t, p.Log(), "forbidden")
		})
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
