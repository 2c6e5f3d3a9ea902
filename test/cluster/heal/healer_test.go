// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/internal/seams"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// running is a healer in this process, as the program runs it, for one World.
type running struct {
	clock    *jumpClock
	registry *prometheus.Registry
	stop     func()          // and wait until it has stopped
	stopping context.Context // done as soon as it has been told to
}

// options of a healer, and where the test takes hold of it.
type options struct {
	healer.RunOptions
	seams.Healer
}

type option func(*options)

// startHealer runs a healer with the rights that it ships with.
func startHealer(t *testing.T, w *cluster.World, change ...option) *running {
	t.Helper()
	return startHealerAs(t, w, asHealer(t, w.Cluster), change...)
}

func startHealerAs(t *testing.T, w *cluster.World, config *rest.Config, change ...option) *running {
	t.Helper()
	r := &running{clock: newJumpClock(t), registry: prometheus.NewRegistry()}
	o := options{
		RunOptions: healer.RunOptions{
			Policy:     rules.Policy{ReplacementDelay: rules.DefaultReplacementDelay},
			Namespaces: []string{w.Namespace},
			Logger:     logger(t),
		},
		Healer: seams.Healer{
			Clock: r.clock, QueueClock: r.clock, Registry: r.registry, Several: true,
			Client: reading(nil, r.clock.object), Shown: r.clock.shown,
		},
	}
	for _, option := range change {
		option(&o)
	}
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	mgr, err := healer.NewManager(seams.With(running, o.Healer), config, o.RunOptions)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(running) }()
	r.stopping = running
	r.stop = func() {
		stop()
		for err := range done {
			if err != nil {
				t.Errorf("the healer ended with %v", err)
			}
			close(done)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// logger keeps what the healer says of fleets, and errors.
func logger(t *testing.T) logr.Logger {
	t.Helper()
	return funcr.New(func(_, args string) {
		if strings.Contains(args, `"rule"=`) || strings.Contains(args, `"error"=`) {
			t.Log(time.Now().Format("15:04:05.000"), args)
		}
	}, funcr.Options{})
}

// oldDisks makes every disk look an hour older to the healer than it is, so
// that no member's disk seems to be made for its present Pod.
func oldDisks(o *options) {
	o.Client = reading(o.Client, func(object any) {
		switch o := object.(type) {
		case *corev1.PersistentVolumeClaim:
			o.CreationTimestamp.Time = o.CreationTimestamp.Add(-time.Hour)
		case *corev1.PersistentVolumeClaimList:
			for i := range o.Items {
				o.Items[i].CreationTimestamp.Time = o.Items[i].CreationTimestamp.Add(-time.Hour)
			}
		}
	})
}

// reading changes what is read, an object or a list.
func reading(inner func(client.WithWatch) client.WithWatch, change func(any)) func(client.WithWatch) client.WithWatch {
	return wrap(inner, interceptor.Funcs{
		Get: func(ctx ctx, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if err == nil {
				change(object)
			}
			return err
		},
		List: func(ctx ctx, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, append(options, copied{})...)
			if err == nil {
				change(list)
			}
			return err
		},
	})
}

// copied makes caches hand out copies, which may be changed.
type copied struct{}

func (copied) ApplyToList(o *client.ListOptions) { o.UnsafeDisableDeepCopy = new(false) }

// wrap adds an interceptor to what wraps clients already.
func wrap(inner func(client.WithWatch) client.WithWatch, funcs interceptor.Funcs) func(client.WithWatch) client.WithWatch {
	return func(c client.WithWatch) client.WithWatch {
		if inner != nil {
			c = inner(c)
		}
		return interceptor.NewClient(c, funcs)
	}
}
