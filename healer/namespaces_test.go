// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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
	answers := map[string]error{"gone": refused}
	may, mayNot, err := readable(t.Context(), guarded(answers), []string{"fleets", "gone"})
	require.NoError(t, err)
	require.Equal(t, []string{"fleets"}, may)
	require.Equal(t, []string{"gone"}, mayNot)

	may, mayNot, err = readable(t.Context(), guarded(answers), nil)
	require.NoError(t, err)
	require.Empty(t, may)
	require.Empty(t, mayNot)

	// Who does not answer has not said no: the program starts again.
	answers["slow"] = apierrors.NewTimeoutError("it is slow", 1)
	_, _, err = readable(t.Context(), guarded(answers), []string{"fleets", "slow"})
	require.EqualError(t, err, "asking what is in namespace slow: Timeout: it is slow")
}

func awaiting(answers map[string]error, namespaces ...string) *awaiter {
	return &awaiter{releaser: releaser{reader: guarded(answers)}, namespaces: namespaces, every: awaitEvery}
}

func TestAwaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[string]error{"gone": refused, "late": refused}
		a := awaiting(answers, "gone", "late")
		require.False(t, a.NeedLeaderElection())
		ended := make(chan error, 1)
		go func() { ended <- a.Start(t.Context()) }()
		time.Sleep(10 * awaitEvery)
		answers["late"] = apierrors.NewTimeoutError("the API server starts again", 1)
		time.Sleep(10 * awaitEvery)
		synctest.Wait()
		require.Empty(t, ended)
		answers["late"] = nil
		time.Sleep(awaitEvery)
		require.EqualError(t, <-ended, "namespace late can be read by now: starting again, to look after its fleets")

		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- awaiting(answers, "gone").Start(ctx) }()
		stop()
		require.NoError(t, <-ended)
	})
}

func TestNoRightsAnywhere(t *testing.T) {
	err := awaiting(map[string]error{"gone": refused}, "gone").alone(t.Context())
	require.ErrorContains(t, err, "no rights in gone: does each of these namespaces exist, with a RoleBinding for the healer?")
}

// A namespace that is deleted may take the healer's rights in it along before the fleets in it. Then, and only then, a fleet
// is let go without a look at what is left of it.
func TestRelease(t *testing.T) {
	for name, c := range map[string]struct {
		deleting, ending, forbidden, restarted bool
		want                                   bool
	}{
		"the same, and the healer started meanwhile":        {deleting: true, ending: true, forbidden: true, restarted: true, want: true},
		"the healer started meanwhile, the namespace stays": {deleting: true, forbidden: true, restarted: true},
		"the namespace ends, and the rights are gone":       {deleting: true, ending: true, forbidden: true, want: true},
		"the rights are gone, and the namespace stays":      {deleting: true, forbidden: true},
		"the fleet is not deleted":                          {ending: true, forbidden: true},
		"the namespace ends, and the rights are there":      {deleting: true, ending: true},
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
					if _, pods := list.(*corev1.PodList); c.forbidden && pods {
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
			if c.restarted {
				require.NoError(t, (&releaser{w.healer.Live, w.healer.Client}).releaseAll(t.Context(), simNamespace))
			} else {
				w.reconcile()
			}
			require.Equal(t, c.want, w.fleet() == nil, w.trace.String())
			if c.want {
				require.NotNil(t, w.set(), "nothing else is deleted")
			}
		})
	}
}
