// SPDX-License-Identifier: Apache-2.0

package tree

// An Arena lends memory to trees. An object has hundreds of nodes, which live and die together; after Reset the memory of
// all trees that were made in the arena is lent again, so they must not be used any more. The zero value is ready.
type Arena struct {
	nodes  lender[Node]
	fields lender[Field]
	items  lender[*Node]
	stack  []Field // fields of maps that are not complete yet
}

// Reset takes back what the arena lent.
func (a *Arena) Reset() {
	a.nodes.reset()
	a.fields.reset()
	a.items.reset()
}

// Chunks of an arena double in size, so that little is left over of a small object's.
const (
	leastChunk = 16
	mostChunk  = 512
)

type lender[T any] struct {
	chunks [][]T
	used   int // chunks that are lent
	rest   []T // of the last of them
}

// take lends n zero values.
func (l *lender[T]) take(n int) []T {
	if n > mostChunk {
		return make([]T, n)
	}
	for len(l.rest) < n {
		if l.used == len(l.chunks) {
			l.chunks = append(l.chunks, make([]T, min(leastChunk<<min(l.used, 8), mostChunk)))
		} else {
			clear(l.chunks[l.used])
		}
		l.rest = l.chunks[l.used]
		l.used++
	}
	out := l.rest[:n:n]
	l.rest = l.rest[n:]
	return out
}

func (l *lender[T]) reset() { l.used, l.rest = 0, nil }
