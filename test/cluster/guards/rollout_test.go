// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
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
// counts the answers, the webhook's and others.
type load struct {
	answered, unanswered atomic.Int64
	inARow               atomic.Int64 // answered, since one was not
	mu                   sync.Mutex
	first                string
	cancel               context.CancelFunc
	done                 sync.WaitGroup
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
				if denied(err) {
					l.answered.Add(1)
					l.inARow.Add(1)
					continue
				}
				l.unanswered.Add(1)
				l.inARow.Store(0)
				l.mu.Lock()
				if l.first == "" {
					l.first = time.Now().Format("15:04:05.000 ") + errorText(err)
				}
				l.mu.Unlock()
			}
		})
	}
	return l
}

// wait waits until so many requests more were answered, one after the other.
func (l *load) wait(t *testing.T, count int64) {
	t.Helper()
	l.inARow.Store(0)
	cluster.Wait(t, fmt.Sprintf("%d answers", count), func(ctx) (bool, string) {
		inARow := l.inARow.Load()
		return inARow >= count, fmt.Sprint(inARow)
	})
}

// stop ends the load and returns how many requests were answered by the
// webhook, how many were not, and the first of those.
func (l *load) stop() (answered, unanswered int64, first string) {
	l.cancel()
	l.done.Wait()
	return l.answered.Load(), l.unanswered.Load(), l.first
}

// A rollout of the webhook refuses nobody: the old replica says that it is not
// ready, goes on serving until its endpoint is gone, and then stops.
func TestRolloutOfTheWebhook(t *testing.T) {
	f := newFleet(t)
	f.sync()
	guard.restored(t)
	l := f.load(4)
	for range 2 {
		old := guard.running
		guard.running = guard.start(t)
		guard.service.route(old, guard.running)
		l.wait(t, 20) // while both are there
		old.stop()
		cluster.Wait(t, "the old replica to say that it is going", func(ctx ctx) (bool, string) {
			ready, said := old.ready(ctx)
			return !ready && strings.Contains(said, "[-]draining"), said
		})
		guard.service.route(guard.running)
		old.end(t)
	}
	answered, unanswered, first := l.stop()
	t.Logf("%d requests during two rollouts", answered)
	require.Zero(t, unanswered, first)
	require.Greater(t, answered, int64(50))
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
	guard.restored(t)
	l := f.load(4)
	old := guard.running
	// The certificate in the Secret is good for a year, which is too short for
	// this replica: it renews it when it starts.
	const day = 24 * time.Hour
	guard.running = guard.start(t, func(_ *serve.Options, s *serve.Seams) {
		s.Rotation = serve.Rotation{Certificate: 500 * day, Lookahead: 400 * day}
	})
	guard.service.route(old, guard.running)
	bothServe := func(ctx ctx) (bool, string) {
		if err := f.c.Client.Get(ctx, key, secret); err != nil {
			return false, err.Error()
		}
		for _, r := range []*replica{old, guard.running} {
			if serves := r.serves(t); serves != string(secret.Data["tls.crt"]) || serves == string(before.Data["tls.crt"]) {
				return false, serves
			}
		}
		return true, ""
	}
	cluster.Wait(t, "both replicas to serve another certificate", bothServe)
	answered, unanswered, first := l.stop()
	t.Logf("%d requests while the certificate was renewed", answered)
	require.Zero(t, unanswered, first)
	require.Equal(t, before.Data["ca.crt"], secret.Data["ca.crt"])

	before = secret.DeepCopy()
	l = f.load(4)
	secret.Data["ca.crt"] = nil // as if it had expired
	require.NoError(t, f.c.Client.Update(t.Context(), secret))
	cluster.Wait(t, "another authority, in every entry and behind both replicas", func(ctx ctx) (bool, string) {
		if ok, seen := bothServe(ctx); !ok {
			return false, seen
		}
		authority := secret.Data["ca.crt"]
		if len(authority) == 0 || bytes.Equal(authority, before.Data["ca.crt"]) {
			return false, "the old authority"
		}
		for _, bundle := range guard.bundles(ctx, t) {
			if !bytes.Equal(bundle, authority) {
				return false, "an entry with another"
			}
		}
		return true, ""
	})
	guard.waitAsked(t)
	l.wait(t, 50) // the API server knows as well
	answered, unanswered, first = l.stop()
	t.Logf("%d requests while the authority was renewed, and %d that have to be repeated: %s", answered, unanswered, first)

	guard.service.cut() // what was verified before counts no more
	guard.waitAsked(t)
	l = f.load(4)
	l.wait(t, 60)
	answered, unanswered, first = l.stop()
	require.Zero(t, unanswered, first)
	require.Greater(t, answered, int64(50))
	for _, r := range []*replica{old, guard.running} {
		ready, said := r.ready(t.Context())
		require.True(t, ready, said)
	}

	guard.service.route(guard.running)
	old.end(t)
}

// bundles are the authorities that the API server is given, by entry.
func (g *guards) bundles(ctx ctx, t testing.TB) [][]byte {
	t.Helper()
	configuration := g.configuration()
	require.NoError(t, g.c.Client.Get(ctx, client.ObjectKeyFromObject(configuration), configuration))
	require.NotEmpty(t, configuration.Webhooks)
	var bundles [][]byte
	for i := range configuration.Webhooks {
		bundles = append(bundles, configuration.Webhooks[i].ClientConfig.CABundle)
	}
	return bundles
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
	r := guard.start(t, func(o *serve.Options, _ *serve.Seams) { o.TLS, o.CertDir = serve.TLSFiles, dir })
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
