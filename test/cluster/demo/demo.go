// SPDX-License-Identifier: Apache-2.0

// Package demo shows a fleet's life on the control plane of the tests: it is
// installed, grows, refuses an edit, loses a disk and a node, and goes. Each
// command is one that a user would type, and really runs; what is shown
// meanwhile is the status that the healer writes.
package demo

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// Options say how a demo goes.
type Options struct {
	Start func(testing.TB) *cluster.Cluster // makes the control plane
	Until int                               // the last step
	Quick bool                              // tell Kubernetes that the dead node is off, rather than let the healer find out
	Keep  bool                              // do not delete the fleet at the end; stay until the context is done
	Pause time.Duration                     // after each step, to read
}

// patience bounds a wait. The longest is that for a Pod on a dead node.
const patience = 5 * time.Minute

// The fleet is that of examples/quickstart.
const (
	namespace = "fleets"
	name      = "my-fleet"
)

// Steps is how many there are.
func Steps() int { return len(steps) }

// Run runs the demo on a screen. It ends tb when something does not come true.
func Run(tb testing.TB, screen *Screen, o Options) {
	tb.Helper()
	d := &demo{tb: tb, screen: screen, Options: o, patience: patience}
	for i, s := range steps {
		if i == o.Until || s.end && o.Keep {
			break
		}
		screen.headline(fmt.Sprintf("%d. %s", i+1, s.title))
		d.began = time.Now()
		s.run(d)
		d.pause()
	}
	if o.Keep {
		d.linger()
	}
}

// demo is one that runs.
type demo struct {
	Options
	tb     testing.TB
	screen *Screen

	shell   *shell
	cluster *cluster.Cluster
	world   *cluster.World
	client  client.Client
	dead    string // node, when there is one

	patience time.Duration // zero: any
	began    time.Time     // of the step
}

// connect makes the client that reads fleets.
func (d *demo) connect() {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(types); err != nil {
			d.tb.Fatal(err)
		}
	}
	var err error
	if d.client, err = client.New(d.cluster.Config, client.Options{Scheme: types}); err != nil {
		d.tb.Fatal(err)
	}
}

// pause leaves time to read.
func (d *demo) pause() {
	select {
	case <-d.tb.Context().Done():
		d.tb.FailNow()
	case <-time.After(d.Pause):
	}
}

// until shows the fleet until something is true of it, and leaves it on the
// screen; nil is a fleet that is gone.
func (d *demo) until(truth string, holds func(*v1alpha1.PersistentFleet) bool) {
	d.tb.Helper()
	v, passed := d.watch(truth, d.look, func(v view) bool { return holds(v.fleet) })
	d.screen.live(append(v.table(d.screen.width(), time.Now()), came(truth, passed))...)
	d.screen.settle()
}

// during shows the fleet until work is done, which makes something true.
func (d *demo) during(truth string, work func()) {
	d.tb.Helper()
	d.screen.say(came(truth, d.wait(truth, d.look, work)))
}

// wait shows what it waits for, and what a look shows, while work is done, and
// clears the screen of it.
func (d *demo) wait(truth string, look func() view, work func()) time.Duration {
	d.tb.Helper()
	done := make(chan struct{})
	defer func() { <-done }() // an interrupt ends work too, and then there is something to clean up
	go func() {
		defer close(done) // work may end its goroutine
		work()
	}()
	_, passed := d.watch(truth, look, func(view) bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	d.screen.clear()
	if d.tb.Failed() || d.tb.Context().Err() != nil {
		d.tb.FailNow()
	}
	return passed
}

// watch draws what a look shows until it has ended, and returns the last look
// and how long that took. Waits without a look show when they last.
func (d *demo) watch(truth string, look func() view, ended func(view) bool) (view, time.Duration) {
	d.tb.Helper()
	started := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var v view
		if look != nil {
			v = look()
		}
		over := ended(v)
		now := time.Now()
		passed := now.Sub(started).Truncate(time.Second)
		if over {
			return v, passed
		}
		if look != nil || passed > 0 {
			d.screen.live(append(v.table(d.screen.width(), now),
				line{{"⋯ waiting until " + truth, cyan}, {"  " + passed.String(), clock}})...)
		}
		if d.patience > 0 && passed > d.patience {
			d.tb.Fatalf("waited %s until %s", d.patience, truth)
		}
		select {
		case <-d.tb.Context().Done():
			d.tb.FailNow()
		case <-tick.C:
		}
	}
}

// came is the line under what was waited for.
func came(truth string, passed time.Duration) line {
	return line{{"✓ " + truth, green}, {"  after " + passed.String(), clock}}
}

// look reads the fleet and what the healer did in this step.
func (d *demo) look() view {
	ctx, cancel := context.WithTimeout(d.tb.Context(), cluster.Patience)
	defer cancel()
	fleet := &v1alpha1.PersistentFleet{}
	err := d.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, fleet)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return view{}
	} else if err != nil {
		d.fail(err)
	}
	return view{fleet: fleet, events: d.events(ctx)}
}

// events are those about the fleet since the step began, at most the last few.
func (d *demo) events(ctx context.Context) []eventsv1.Event {
	list, err := d.cluster.Kubernetes.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		d.fail(err)
	}
	out := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Kind != "PersistentFleet" || e.Regarding.Name != name || e.EventTime.Time.Before(d.began)
	})
	slices.SortStableFunc(out, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return out[max(0, len(out)-maxEvents):]
}

// maxEvents is how many of them are shown.
const maxEvents = 4

// fail ends the demo by an error, unless it has been told to end.
func (d *demo) fail(err error) {
	d.tb.Helper()
	if d.tb.Context().Err() != nil {
		d.tb.FailNow()
	}
	d.tb.Fatal(err)
}
