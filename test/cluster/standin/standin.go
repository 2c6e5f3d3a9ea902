// SPDX-License-Identifier: Apache-2.0

// Package standin lets a program use what is written for tests: it plays the
// testing.TB that they expect. Only what helpers call is there; the rest of
// testing.TB panics, which ends the program as a failure.
package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
)

// Run runs a body and then its cleanups, the last first, and returns what was
// reported as an error. What a failure or a panic leaves undone is cleaned up
// all the same. Logged lines go to log.
//
// Once ctx is done, errors are those of being interrupted and no failure: Failed
// stays as it was, and Run returns the context's error if there was no other.
func Run(ctx context.Context, name string, log io.Writer, body func(testing.TB)) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &tb{outer: ctx, inner: inner, name: name, log: log}
	t.guard(func() { body(t) })
	cancel()
	for {
		cleanup := t.nextCleanup()
		if cleanup == nil {
			break
		}
		t.guard(cleanup)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.errs) == 0 {
		return ctx.Err()
	}
	return errors.Join(t.errs...)
}

type tb struct {
	testing.TB // nil; it has a method that only package testing can have

	outer, inner context.Context
	name         string

	mu       sync.Mutex // guards what follows
	log      io.Writer
	errs     []error
	cleanups []func()
}

// guard runs a function that may end its goroutine.
func (t *tb) guard(run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		run()
	}()
	<-done
}

func (t *tb) nextCleanup() func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.cleanups) == 0 {
		return nil
	}
	last := len(t.cleanups) - 1
	cleanup := t.cleanups[last]
	t.cleanups = slices.Delete(t.cleanups, last, last+1)
	return cleanup
}

func (t *tb) report(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outer.Err() == nil {
		t.errs = append(t.errs, errors.New(text))
	}
}

func (t *tb) Helper()                  {}
func (t *tb) Name() string             { return t.name }
func (t *tb) Context() context.Context { return t.inner }

func (t *tb) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *tb) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.errs) > 0
}

func (t *tb) Fail()                        { t.report(t.name + " failed") }
func (t *tb) FailNow()                     { t.failNow("") }
func (t *tb) Error(args ...any)            { t.report(fmt.Sprint(args...)) }
func (t *tb) Errorf(f string, args ...any) { t.report(fmt.Sprintf(f, args...)) }
func (t *tb) Fatal(args ...any)            { t.failNow(fmt.Sprint(args...)) }
func (t *tb) Fatalf(f string, args ...any) { t.failNow(fmt.Sprintf(f, args...)) }
func (t *tb) Log(args ...any)              { t.tell(fmt.Sprintln(args...)) }
func (t *tb) Logf(f string, args ...any)   { t.tell(fmt.Sprintf(f+"\n", args...)) }

// failNow ends the goroutine, with a reason unless there is one.
func (t *tb) failNow(text string) {
	if text != "" {
		t.report(text)
	} else if !t.Failed() {
		t.Fail()
	}
	runtime.Goexit()
}

func (t *tb) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprint(t.log, text)
}

func (t *tb) TempDir() string {
	dir, err := os.MkdirTemp("", t.name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
