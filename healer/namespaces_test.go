// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A guarded reader refuses, or fails, to list what is in some namespaces.
func guarded(answers map[string]error) client.Reader {
	return interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(options)
			return answers[o.Namespace]
		},
	})
}

var refused = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)

// A namespace that is gone takes the rights in it along, and must not keep the healer from the others.
func TestReadable(t *testing.T) {
	reader := guarded(map[string]error{"gone": refused, "slow": apierrors.NewTimeoutError("it is slow", 1)})
	may, mayNot, err := readable(t.Context(), reader, []string{"fleets", "gone", "slow"})
	require.NoError(t, err)
	require.Equal(t, []string{"fleets", "slow"}, may)
	require.Equal(t, []string{"gone"}, mayNot)

	may, mayNot, err = readable(t.Context(), reader, nil)
	require.NoError(t, err)
	require.Empty(t, may)
	require.Empty(t, mayNot)

	// Caches of no namespaces would be caches of all.
	_, _, err = readable(t.Context(), reader, []string{"gone"})
	require.EqualError(t, err, "no rights in gone: does each of these namespaces exist, with a RoleBinding for the healer?")
}

func TestAwaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[string]error{"gone": refused, "late": refused}
		a := &awaiter{reader: guarded(answers), namespaces: []string{"gone", "late"}, every: awaitEvery}
		require.False(t, a.NeedLeaderElection())
		ended := make(chan error, 1)
		go func() { ended <- a.Start(t.Context()) }()
		time.Sleep(10 * awaitEvery)
		synctest.Wait()
		require.Empty(t, ended)
		answers["late"] = nil
		time.Sleep(awaitEvery)
		require.EqualError(t, <-ended, "namespace late can be read by now: starting again, to look after its fleets")

		ctx, stop := context.WithCancel(t.Context())
		go func() {
			ended <- (&awaiter{reader: guarded(answers), namespaces: []string{"gone"}, every: awaitEvery}).Start(ctx)
		}()
		stop()
		require.NoError(t, <-ended)
	})
}

// A namespace that is deleted may take the healer's rights in it along before the fleets in it. Then, and only then, a fleet
// is let go without a look at what is left of it.
func TestRelease(t *testing.T) {
	for name, c := range map[string]struct {
		deleting, ending, forbidden bool
		want                        bool
	}{
		"the namespace ends, and the rights are gone":  {deleting: true, ending: true, forbidden: true, want: true},
		"the rights are gone, and the namespace stays": {deleting: true, forbidden: true},
		"the fleet is not deleted":                     {ending: true, forbidden: true},
		"the namespace ends, and the rights are there": {deleting: true, ending: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.started("kind: PersistentFleet")
			live := w.healer.Live
			w.healer.Live = interceptor.NewClient(w.api, interceptor.Funcs{
				Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					namespace, ok := o.(*metav1.PartialObjectMetadata)
					if ok && key.Name == simNamespace && c.ending {
						namespace.DeletionTimestamp = &metav1.Time{Time: noon}
					}
					if ok {
						return nil
					}
					return live.Get(ctx, key, o, options...)
				},
				List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if c.forbidden {
						return refused
					}
					return live.List(ctx, list, options...)
				},
			})
			if c.deleting {
				require.NoError(t, w.api.Delete(t.Context(), w.fleet()))
			} else {
				w.applyFleet("spec: {replicas: 4}")
			}
			w.reconcile()
			require.Equal(t, c.want, w.fleet() == nil, w.trace.String())
			if c.want {
				require.NotNil(t, w.set(), "nothing else is deleted")
			}
		})
	}
}
