// SPDX-License-Identifier: Apache-2.0

package standin_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster/standin"
)

func TestCleanupsRunLastFirstWhateverEndsTheBody(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(testing.TB)
		want string
	}{
		"return":             {end: func(testing.TB) {}},
		"fatal":              {end: func(tb testing.TB) { tb.Fatal("no", " way") }, want: "no way"},
		"fatal with a value": {end: func(tb testing.TB) { tb.Fatalf("no %s", "way") }, want: "no way"},
		"error and on":       {end: func(tb testing.TB) { tb.Error("first"); tb.Errorf("%s", "second") }, want: "first\nsecond"},
		"fail now":           {end: func(tb testing.TB) { tb.FailNow() }, want: "it failed"},
		"testify":            {end: func(tb testing.TB) { require.True(tb, false, "must be") }, want: "must be"},
		"panic":              {end: func(testing.TB) { panic("broken") }, want: "panic: broken"},
		"what is not there":  {end: func(tb testing.TB) { tb.Setenv("A", "b") }, want: "nil pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			var order []string
			err := standin.Run(t.Context(), "it", io.Discard, func(tb testing.TB) {
				tb.Cleanup(func() { order = append(order, "first") })
				tb.Cleanup(func() {
					order = append(order, "second")
					require.Error(t, tb.Context().Err(), "the context outlives the body")
					require.Equal(t, c.want != "", tb.Failed())
					tb.Cleanup(func() { order = append(order, "late") })
				})
				c.end(tb)
			})
			require.Equal(t, []string{"second", "late", "first"}, order)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

func TestAFailedCleanupFailsAndTheOthersRun(t *testing.T) {
	ran := false
	err := standin.Run(t.Context(), "it", io.Discard, func(tb testing.TB) {
		tb.Cleanup(func() { ran = true })
		tb.Cleanup(func() { tb.Fatal("left something") })
	})
	require.EqualError(t, err, "left something")
	require.True(t, ran)
}

func TestAnInterruptIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	failed := true
	err := standin.Run(ctx, "it", io.Discard, func(tb testing.TB) {
		tb.Cleanup(func() { failed = tb.Failed() })
		cancel()
		<-tb.Context().Done()
		tb.Fatal("waited in vain")
	})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, failed)
}

func TestLogsAndDirectories(t *testing.T) {
	var log bytes.Buffer
	var dir string
	require.NoError(t, standin.Run(t.Context(), "it", &log, func(tb testing.TB) {
		tb.Helper()
		tb.Log("one", 2)
		tb.Logf("%s of %s", "three", tb.Name())
		dir = tb.TempDir()
		require.DirExists(t, dir)
	}))
	require.Equal(t, "one 2\nthree of it\n", log.String())
	require.NoDirExists(t, dir)
}
