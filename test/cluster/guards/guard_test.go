// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
	"github.com/fleetwright/fleetwright/webhook/registration"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

// guards is the webhook of this package's cluster.
type guards struct {
	c       *cluster.Cluster
	config  *rest.Config // of its ServiceAccount
	service *service
	running *replica
	started []*replica // since the last rollout, some of which may have ended
}

// replica is a webhook that runs in this process.
type replica struct {
	address, probe string
	metrics        *prometheus.Registry
	stop           context.CancelFunc
	ended          chan error
}

// without is the label of a namespace for which the webhook is not asked, as if
// it were down.
const without = "guards.test/without"

// roles is the file of the rights that the webhook ships with.
const roles = "../../../config/webhook/rbac.yaml"

// newGuards installs what the webhook needs: namespace, ServiceAccount, the
// generated rights, an empty Secret and the generated configuration.
func newGuards(t testing.TB, c *cluster.Cluster) *guards {
	t.Helper()
	const namespace = registration.DefaultNamespace
	make := func(object client.Object) { require.NoError(t, c.Client.Create(t.Context(), object)) }
	make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registration.Name}}
	make(account)
	manifest, err := os.ReadFile(roles)
	require.NoError(t, err)
	objects, err := cluster.Decode(manifest)
	require.NoError(t, err)
	for _, object := range objects {
		make(object)
	}
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: registration.Name}}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: registration.Name}
	make(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: registration.Name}, RoleRef: role, Subjects: subject})
	role.Kind = "Role"
	make(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registration.Name}, RoleRef: role, Subjects: subject})
	make(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registration.Name + "-tls"}})

	g := &guards{c: c, service: newService(t), config: c.ServiceAccountConfig(t, namespace, registration.Name)}
	make(g.configuration())
	return g
}

// configuration is the shipped one, with an address for want of a Service.
func (g *guards) configuration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	configuration := registration.Configuration(registration.DefaultNamespace)
	url := "https://localhost:" + g.service.port + registration.Path
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		configuration.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: without, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	}
	return configuration
}

// start runs another replica and waits until it is ready. Its options are
// those of a Pod, but for the addresses.
func (g *guards) start(t testing.TB, change ...func(*serve.Options, *serve.Seams)) *replica {
	t.Helper()
	o := serve.Default()
	o.Address, o.MetricsAddress, o.ProbeAddress = "127.0.0.1:"+program.FreePort(t), "0", "127.0.0.1:"+program.FreePort(t)
	registry := prometheus.NewRegistry()
	o.DrainDelay = time.Second
	seams := serve.Seams{DNSNames: []string{"localhost"}, Registry: registry, Instance: o.ProbeAddress}
	for _, c := range change {
		c(&o, &seams)
	}
	running, stop := context.WithCancel(context.Background())
	r := &replica{address: o.Address, probe: "http://" + o.ProbeAddress, metrics: registry, stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- serve.RunWith(running, g.config, o, seams) }()
	isReady := false
	defer func() {
		if !isReady {
			stop() // nobody else knows it
		}
	}()
	cluster.Wait(t, "the webhook to be ready", func(ctx ctx) (bool, string) {
		select {
		case err := <-r.ended:
			t.Fatalf("the webhook ended: %v", err)
		default:
		}
		return r.ready(ctx)
	})
	isReady = true
	g.started = append(g.started, r)
	return r
}

// restored leaves nothing behind of a rollout, at whatever point a test ends:
// the running replica gets all requests, and every other one is told to stop.
func (g *guards) restored(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		g.service.route(g.running)
		for _, r := range g.started {
			if r != g.running {
				r.stop()
			}
		}
		g.started = []*replica{g.running}
	})
}

// ready asks for readiness as a kubelet does.
func (r *replica) ready(ctx ctx) (bool, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.probe+"/readyz?verbose", http.NoBody)
	if err != nil {
		return false, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode == http.StatusOK && err == nil, string(text)
}

// end tells a replica to stop and waits until it has.
func (r *replica) end(t testing.TB) {
	t.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		require.NoError(t, err)
	case <-time.After(cluster.Patience):
		t.Fatal("the webhook does not stop")
	}
}

// waitAsked waits until the API server asks: it hears of a configuration, and
// of its caBundle, a little later.
func (g *guards) waitAsked(t testing.TB) {
	t.Helper()
	probe := reservation("s3-probe", "s3://probe", identity)
	require.NoError(t, client.IgnoreAlreadyExists(g.c.Client.Create(t.Context(), probe)))
	cluster.Wait(t, "the API server to ask the webhook", func(ctx ctx) (bool, string) {
		err := g.c.Client.Delete(ctx, probe, client.DryRunAll)
		return denied(err), errorText(err)
	})
}
