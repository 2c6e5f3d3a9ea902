// SPDX-License-Identifier: Apache-2.0

// Package demo shows a fleet's life on the control plane of the tests: it is
// installed, grows, refuses an edit, loses a disk and a node, and goes. Each
// command is one that a user would type, and really runs; what is shown
// meanwhile is the status that the healer writes.
package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Cluster *cluster.Cluster // nil: one of its own, for as long as the demo runs
	Until   int              // the last step
	Quick   bool             // tell Kubernetes that the dead node is off, rather than let the healer find out
	Keep    bool             // do not delete the fleet at the end; stay until the context is done
	Pause   time.Duration    // after each step, to read
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

// Run runs the demo on a screen. It fails when something does not come true, or
// when the context is done.
func Run(ctx context.Context, screen *Screen, o Options) error {
	d := &demo{ctx: ctx, screen: screen, Options: o, cluster: o.Cluster, patience: patience}
	err := d.play(steps)
	return errors.Join(err, d.close(err))
}

// play takes the steps. What fails in one of them is a failure here.
func (d *demo) play(steps []step) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	for i, s := range steps {
		if i == d.Until || s.end && d.Keep {
			break
		}
		d.screen.headline(fmt.Sprintf("%d. %s", i+1, s.title))
		d.began = time.Now()
		s.run(d)
		d.pause()
	}
	if d.Keep {
		d.linger()
	}
	return nil
}

// close takes down what the demo has made.
func (d *demo) close(failed error) error {
	var err error
	if d.world != nil {
		err = d.world.Close()
	}
	if d.Cluster == nil && d.cluster != nil {
		if said := d.cluster.Stop(failed != nil && d.ctx.Err() == nil); said != "" {
			err = errors.Join(err, errors.New(said))
		}
	}
	return err
}

// failure is what ends a step. It does not leave this package.
type failure struct{ error }

// check ends the step by an error, if it is one, or by the context's.
func (d *demo) check(err error) {
	if ended := d.ctx.Err(); ended != nil {
		panic(failure{ended})
	}
	if err != nil {
		panic(failure{err})
	}
}

// demo is one that runs.
type demo struct {
	Options
	ctx    context.Context
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
func (d *demo) connect() (err error) {
	types := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(types), v1alpha1.AddToScheme(types)); err != nil {
		return err
	}
	d.client, err = client.New(d.cluster.Config, client.Options{Scheme: types})
	return err
}

// pause leaves time to read.
func (d *demo) pause() {
	select {
	case <-d.ctx.Done():
	case <-time.After(d.Pause):
	}
	d.check(nil)
}

// until shows the fleet until something is true of it, and leaves it on the
// screen; nil is a fleet that is gone.
func (d *demo) until(truth string, holds func(*v1alpha1.PersistentFleet) bool) {
	v, passed := d.watch(truth, d.look, func(v view) bool { return holds(v.fleet) })
	d.screen.live(append(v.table(d.screen.width(), time.Now()), came(truth, passed))...)
	d.screen.settle()
}

// during shows the fleet until work is done, which makes something true.
func (d *demo) during(truth string, work func() error) {
	d.screen.say(came(truth, d.wait(truth, d.look, work)))
}

// wait shows what it waits for, and what a look shows, while work is done, and
// clears the screen of it.
func (d *demo) wait(truth string, look func() view, work func() error) time.Duration {
	done, failed := make(chan struct{}), error(nil)
	defer func() { <-done }() // an interrupt ends work too, and then there is something to clean up
	go func() {
		defer close(done)
		failed = work()
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
	d.check(failed)
	return passed
}

// watch draws what a look shows until it has ended, and returns the last look
// and how long that took. Waits without a look show when they last.
func (d *demo) watch(truth string, look func() view, ended func(view) bool) (view, time.Duration) {
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
			d.check(fmt.Errorf("waited %s until %s", d.patience, truth))
		}
		select {
		case <-d.ctx.Done():
			d.check(nil)
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
	ctx, cancel := context.WithTimeout(d.ctx, cluster.Patience)
	defer cancel()
	fleet := &v1alpha1.PersistentFleet{}
	err := d.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, fleet)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return view{}
	}
	d.check(err)
	return view{fleet: fleet, events: d.events(ctx)}
}

// events are those about the fleet since the step began, at most the last few.
func (d *demo) events(ctx context.Context) []eventsv1.Event {
	list, err := d.cluster.Kubernetes.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
	d.check(err)
	out := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Kind != "PersistentFleet" || e.Regarding.Name != name || e.EventTime.Time.Before(d.began)
	})
	slices.SortStableFunc(out, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return out[max(0, len(out)-maxEvents):]
}

// maxEvents is how many of them are shown.
const maxEvents = 4
