// SPDX-License-Identifier: Apache-2.0

package ordered_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/ordered"
)

func numbers(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// cores runs a test with each number of cores.
func cores(t *testing.T, test func(t *testing.T)) {
	for _, n := range []int{1, 2, 8} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		test(t)
	}
}

func TestOrderIsKept(t *testing.T) {
	cores(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 4, 5, 6, 100, 5000} {
			var want []int
			for i := range n {
				want = append(want, i*i)
			}
			got := slices.Collect(ordered.Map(numbers(n), func(i int) int {
				if i%7 == 0 {
					runtime.Gosched() // let others overtake
				}
				return i * i
			}))
			require.Equal(t, want, got)
		}
	})
}

// Little is read ahead of what is taken, and nothing works once the caller has enough.
func TestReadsLittleAhead(t *testing.T) {
	cores(t, func(t *testing.T) {
		var read, working atomic.Int64
		in := func(yield func(int) bool) {
			for i := range 100_000 {
				read.Add(1)
				if !yield(i) {
					return
				}
			}
		}
		taken := int64(0)
		for range ordered.Map(in, func(i int) int { working.Add(1); defer working.Add(-1); return i }) {
			if taken++; taken == 500 {
				break
			}
			require.LessOrEqual(t, read.Load(), taken+int64(16*runtime.GOMAXPROCS(0))+1)
		}
		require.Zero(t, working.Load())
	})
}
