// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTakenPortIsToldApart(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()

	c, err := launch(t.Context(), steps[:3])
	require.NoError(t, err)
	defer c.Stop(false)
	c.port = taken.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	require.ErrorIs(t, c.runAPIServer(ctx), errPortTaken)

	require.NoError(t, c.startAPIServer(ctx))
}

func TestMarkInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	c := &Cluster{dir: t.TempDir()}
	log, err := os.Create(c.auditLog())
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	asked := func(since Mark) (names []string) {
		for _, r := range c.Requests(t, since, func(Request) bool { return true }) {
			names = append(names, r.User)
		}
		return names
	}
	write := func(text string) Mark {
		_, err := log.WriteString(text)
		require.NoError(t, err)
		return c.Mark(t)
	}
	none := c.Mark(t)
	one := write(`{"user":{"username":"one"}}` + "\n")
	half := write(`{"user":{"user`)
	require.Empty(t, asked(half))
	two := write(`name":"two"}}` + "\n")
	write(`{"user":{"username":"three"}}` + "\n")
	require.Equal(t, []string{"one", "two", "three"}, asked(none))
	require.Equal(t, []string{"two", "three"}, asked(one))
	require.Equal(t, []string{"three"}, asked(half))
	require.Equal(t, []string{"three"}, asked(two))
}

// fatal is a test that remembers what ended it.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatal(args ...any) {
	f.said = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *fatal) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// ended runs a function that ends its test and returns what it said.
func ended(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	f, done := &fatal{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		do(f)
	}()
	<-done
	return f.said
}

func TestWaitSaysWhatItSawLast(t *testing.T) {
	t.Parallel()
	looks := 0
	said := ended(t, func(tb testing.TB) {
		WaitWithin(tb, 5*interval, "rain", func(context.Context) (bool, string) {
			looks++
			return false, fmt.Sprintf("look %d: the sun", looks)
		})
	})
	require.Regexp(t, `^waited 500ms for rain; last seen: look \d+: the sun$`, said)
	require.Greater(t, looks, 1)

	require.Empty(t, ended(t, func(tb testing.TB) {
		Wait(tb, "rain", func(context.Context) (bool, string) { return true, "" })
	}))
}

// A look that the deadline cut off saw nothing but that.
func TestWaitDoesNotTellOfTheDeadline(t *testing.T) {
	t.Parallel()
	said := ended(t, func(tb testing.TB) {
		first := true
		WaitWithin(tb, 3*interval, "rain", func(ctx context.Context) (bool, string) {
			if first {
				first = false
				return false, "the sun"
			}
			<-ctx.Done()
			return false, ctx.Err().Error()
		})
	})
	require.Equal(t, "waited 300ms for rain; last seen: the sun", said)
}

func TestHoldsSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	sunny := true
	said := ended(t, func(tb testing.TB) {
		Holds(tb, Patience, "the sun shines", func(context.Context) (bool, string) {
			defer func() { sunny = false }()
			return sunny, "rain"
		})
	})
	require.Regexp(t, `^the sun shines: not so after \d+ms; seen: rain$`, said)

	require.Empty(t, ended(t, func(tb testing.TB) {
		Holds(tb, 2*interval, "the sun shines", func(context.Context) (bool, string) { return true, "" })
	}))
}

func TestStagesAreRenderedForEachBehaviour(t *testing.T) {
	t.Parallel()
	rendered, err := kubeletStages()
	require.NoError(t, err)
	objects, err := Decode(rendered)
	require.NoError(t, err)
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	require.Equal(t, []string{"node-ready", "pod-start",
		"pod-ready", "pod-unready", "pod-gated", "pod-crashing", "pod-missing", "pod-misconfigured", "pod-end", "pod-delete"}, names)
}
