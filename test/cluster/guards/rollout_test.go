// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/webhook/registration"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

// load asks the API server for what the webhook refuses, over and over, and
// counts the answers that are not the webhook's.
type load struct {
	asked, unanswered atomic.Int64
	mu                sync.Mutex
	first             string
	cancel            context.CancelFunc
	done              sync.WaitGroup
}

func (f *fleet) load(workers int) *load {
	f.t.Helper()
	running, cancel := context.WithCancel(f.t.Context())
	l := &load{cancel: cancel}
	for range workers {
		l.done.Go(func() {
			for running.Err() == nil {
				set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: f.GetName()}}
				err := f.c.Client.Patch(running, set, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":7}}`)), client.DryRunAll)
				if running.Err() != nil {
					return
				}
				l.asked.Add(1)
				if !denied(err) {
					l.unanswered.Add(1)
					l.mu.Lock()
					if l.first == "" {
						l.first = time.Now().Format("15:04:05.000 ") + errorText(err)
					}
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

// stop ends the load and returns how many requests were not answered by the
// webhook.
func (l *load) stop() (asked, unanswered int64, first string) {
	l.cancel()
	l.done.Wait()
	return l.asked.Load(), l.unanswered.Load(), l.first
}

// A rollout of the webhook refuses nobody: the old replica says that it is not
// ready, goes on serving until its endpoint is gone, and then stops.
func TestRolloutOfTheWebhook(t *testing.T) {
	f := newFleet(t)
	f.sync()
	l := f.load(4)
	for range 2 {
		old := guard.running
		guard.running = guard.start(t)
		guard.service.route(old, guard.running)
		asked := l.asked.Load()
		cluster.Wait(t, "requests while both are there", func(ctx) (bool, string) {
			return l.asked.Load() >= asked+20, fmt.Sprint(l.asked.Load() - asked)
		})
		old.stop()
		cluster.Wait(t, "the old replica to say that it is going", func(ctx ctx) (bool, string) {
			ready, said := old.ready(ctx)
			return !ready && strings.Contains(said, "[-]draining"), said
		})
		guard.service.route(guard.running)
		old.end(t)
	}
	asked, unanswered, first := l.stop()
	t.Logf("%d requests during two rollouts", asked)
	require.Zero(t, unanswered, first)
	require.Greater(t, asked, int64(50))
}

// Certificates are renewed under load. The certificate itself changes without
// a trace. A new authority has to reach the API server and the webhook at the
// same moment; requests between the two fail, and pass when they are repeated.
func TestRotationUnderLoad(t *testing.T) {
	f := newFleet(t)
	f.sync()
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: registration.DefaultNamespace, Name: registration.Name + "-tls"}
	require.NoError(t, f.c.Client.Get(t.Context(), key, secret))
	before := secret.DeepCopy()
	l := f.load(4)
	old := guard.running
	// The certificate in the Secret is good for a year, which is too short for
	// this replica: it renews it when it starts.
	const day = 24 * time.Hour
	guard.running = guard.start(t, func(o *serve.Options) {
		o.Rotation = serve.Rotation{Certificate: 500 * day, Lookahead: 400 * day}
	})
	guard.service.route(old, guard.running)
	cluster.Wait(t, "both replicas to serve another certificate", func(ctx ctx) (bool, string) {
		require.NoError(t, f.c.Client.Get(ctx, key, secret))
		for _, r := range []*replica{old, guard.running} {
			if serves := r.serves(t); serves != string(secret.Data["tls.crt"]) || serves == string(before.Data["tls.crt"]) {
				return false, serves
			}
		}
		return true, ""
	})
	asked, unanswered, first := l.stop()
	t.Logf("%d requests while the certificate was renewed", asked)
	require.Zero(t, unanswered, first)
	require.Equal(t, before.Data["ca.crt"], secret.Data["ca.crt"])

	l = f.load(4)
	secret.Data["ca.crt"] = nil // as if it had expired
	require.NoError(t, f.c.Client.Update(t.Context(), secret))
	cluster.Wait(t, "another authority", func(ctx ctx) (bool, string) {
		require.NoError(t, f.c.Client.Get(ctx, key, secret))
		return len(secret.Data["ca.crt"]) > 0, "none"
	})
	guard.waitAsked(t)
	cluster.Wait(t, "requests after that", func(ctx) (bool, string) { return l.asked.Load() > 100, "" })
	ready, said := guard.running.ready(t.Context())
	require.True(t, ready, said)
	asked, unanswered, first = l.stop()
	t.Logf("%d requests while the authority was renewed, %d failed: %s", asked, unanswered, first)

	guard.service.route(guard.running)
	old.end(t)
}

// A certificate that somebody else makes, such as cert-manager, is served from
// its files, and again when they change.
func TestCertificateFromFiles(t *testing.T) {
	c := newCluster(t)
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: registration.DefaultNamespace, Name: registration.Name + "-tls"}
	require.NoError(t, c.Client.Get(t.Context(), key, secret))
	dir := t.TempDir()
	write := func(names ...string) {
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), secret.Data[name], 0o600))
		}
	}
	write("tls.crt", "tls.key")
	r := guard.start(t, func(o *serve.Options) { o.TLS, o.CertDir = serve.TLSFiles, dir })
	defer r.end(t)
	require.Equal(t, string(secret.Data["tls.crt"]), r.serves(t))

	secret.Data["tls.crt"] = nil // whoever makes it makes another
	require.NoError(t, c.Client.Update(t.Context(), secret))
	cluster.Wait(t, "another certificate", func(ctx ctx) (bool, string) {
		require.NoError(t, c.Client.Get(ctx, key, secret))
		return len(secret.Data["tls.crt"]) > 0, "none"
	})
	write("tls.key", "tls.crt")
	cluster.Wait(t, "the other certificate to be served", func(ctx) (bool, string) {
		return r.serves(t) == string(secret.Data["tls.crt"]), "the old one"
	})
	ready, said := r.ready(t.Context())
	require.True(t, ready, said)
}

// serves is the certificate that a replica presents.
func (r *replica) serves(t *testing.T) string {
	t.Helper()
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", r.address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
}
