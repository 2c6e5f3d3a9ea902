// SPDX-License-Identifier: Apache-2.0

// Package ordered spreads work over the cores and hands out the results in the order of the input.
package ordered

import (
	"iter"
	"runtime"
	"sync"
)

const (
	// ahead is how many values each worker may be ahead of the result that is taken next; it bounds memory.
	ahead = 16
	// few values are not worth a thread: most runs read one fleet.
	few = 4
)

// Map calls work for each value, on all cores, and yields the results in the order of the values. Values are taken, and results
// are yielded, in the caller's goroutine. No work is left running when the sequence ends.
func Map[In, Out any](in iter.Seq[In], work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		workers := runtime.GOMAXPROCS(0)
		if workers == 1 {
			for value := range in {
				if !yield(work(value)) {
					return
				}
			}
			return
		}
		type task struct {
			value  In
			result chan Out
		}
		tasks := make(chan task, workers*ahead)
		results := make(chan chan Out, workers*ahead) // of tasks, in order
		var running sync.WaitGroup
		defer running.Wait()
		defer close(tasks)
		started := 0
		for value := range in {
			if len(results) == cap(results) && !yield(<-<-results) {
				return
			}
			t := task{value, make(chan Out, 1)}
			tasks <- t
			results <- t.result
			if started < workers && len(tasks) > few {
				started++
				running.Go(func() {
					for t := range tasks {
						t.result <- work(t.value)
					}
				})
			}
		}
		for started == 0 && len(tasks) > 0 {
			t := <-tasks
			t.result <- work(t.value)
		}
		for len(results) > 0 {
			if !yield(<-<-results) {
				return
			}
		}
	}
}
