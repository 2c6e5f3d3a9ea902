// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patience is how long Wait waits. What is awaited takes seconds; the rest is
// for machines that are busy with something else. It does not change.
var Patience = patience()

// interval is how often a state is looked at.
const interval = 100 * time.Millisecond

// Check looks at a state. It returns whether the state is as wanted, and what
// it saw, for the message when it never is.
type Check func(ctx context.Context) (ok bool, seen string)

// Wait waits until a check succeeds, and ends the test when it does not within
// Patience.
func Wait(tb testing.TB, awaited string, check Check) {
	tb.Helper()
	WaitWithin(tb, Patience, awaited, check)
}

// WaitWithin is Wait for what takes longer, or has to be faster.
func WaitWithin(tb testing.TB, limit time.Duration, awaited string, check Check) {
	tb.Helper()
	if err := Await(tb.Context(), limit, awaited, check); err != nil {
		tb.Fatal(err)
	}
}

// Await is WaitWithin where there is no test.
func Await(ctx context.Context, limit time.Duration, awaited string, check Check) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last := "nothing"
	for {
		ok, seen := check(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			last = seen // else it may only have seen the deadline
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s; last seen: %s", limit, awaited, last)
		case <-tick.C:
		}
	}
}

// Holds ends the test when a check fails at any time during a span. It is for
// showing that something does not happen, and can only ever show that it does
// not happen soon: make the span longer than what would happen takes.
func Holds(tb testing.TB, span time.Duration, claim string, check Check) {
	tb.Helper()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	started, end := time.Now(), time.After(span)
	for {
		if ok, seen := check(tb.Context()); !ok {
			tb.Fatalf("%s: not so after %s; seen: %s", claim, time.Since(started).Round(time.Millisecond), seen)
		}
		select {
		case <-end:
			return
		case <-tick.C:
		}
	}
}

// Outcome tells what came of a request, for what a check saw.
func Outcome(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

// Object makes a check of an object in the cluster. The object is read into
// the given one, so after a successful Wait that is what was seen. An object
// that is missing or cannot be read is not as wanted.
func (c *Cluster) Object(object client.Object, want func() (ok bool, seen string)) Check {
	key := client.ObjectKeyFromObject(object)
	return func(ctx context.Context) (bool, string) {
		if err := c.read(ctx, key, object); err != nil {
			return false, err.Error()
		}
		return want()
	}
}

// Gone makes a check that an object does not exist.
func (c *Cluster) Gone(object client.Object) Check {
	key := client.ObjectKeyFromObject(object)
	return func(ctx context.Context) (bool, string) {
		err := c.read(ctx, key, object)
		if err != nil {
			return apierrors.IsNotFound(err), err.Error()
		}
		return false, fmt.Sprintf("%s %s (uid %s, deletionTimestamp %s, finalizers %v)", kind(object), key,
			object.GetUID(), object.GetDeletionTimestamp(), object.GetFinalizers())
	}
}

// read reads into a fresh object, lest fields that are gone stay behind.
func (c *Cluster) read(ctx context.Context, key client.ObjectKey, object client.Object) error {
	reset(object)
	return c.Client.Get(ctx, key, object)
}
