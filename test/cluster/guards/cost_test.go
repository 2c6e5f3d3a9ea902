// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/stretchr/testify/require"
)

// apart is more than the tenth of a second that an API server leaves between
// two progress requests to etcd for a resource: a consistent list that comes
// sooner waits for the next one, and that is what a loop would measure. One
// fleet is applied here, with nothing of its kind just before.
const apart = 150 * time.Millisecond

// What the webhook costs a sync: fleets are applied with and without it, by
// turns, and the medians are printed. Nothing depends on them.
func TestCostOfApply(t *testing.T) {
	c := newCluster(t)
	apply := func(labels map[string]string) time.Duration {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cost-", Labels: labels}}
		require.NoError(t, c.Client.Create(t.Context(), namespace))
		f := inNamespace(t, c, namespace.Name)
		objects := f.rendered()
		// The namespace's labels have to be known before the first object.
		require.NoError(t, c.Client.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace))
		time.Sleep(apart)
		started := time.Now()
		for _, object := range objects {
			require.NoError(t, f.apply(object))
		}
		return time.Since(started)
	}
	var with, away []time.Duration
	for range 25 {
		with = append(with, apply(nil))
		away = append(away, apply(map[string]string{without: "true"}))
	}
	slices.Sort(with)
	slices.Sort(away)
	a, b := with[len(with)/2], away[len(away)/2]
	t.Logf("a fleet is applied in %s with the webhook, in %s without: %.2f times", a, b, float64(a)/float64(b))
}
