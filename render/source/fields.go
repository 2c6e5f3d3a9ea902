// SPDX-License-Identifier: Apache-2.0

package source

import (
	"reflect"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// structFields are the JSON fields of a struct, embedded ones included.
type structFields struct {
	index map[string][]int
	names []string // sorted
}

var structCache sync.Map // of reflect.Type to *structFields

func fieldsOf(t reflect.Type) *structFields {
	if f, ok := structCache.Load(t); ok {
		return f.(*structFields)
	}
	f := &structFields{index: map[string][]int{}}
	f.collect(t, nil)
	slices.Sort(f.names)
	structCache.Store(t, f)
	return f
}

func (f *structFields) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, inline, _, ok := tree.JSONField(sf)
		if !ok {
			continue
		}
		at := append(slices.Clone(index), i)
		if inline {
			f.collect(sf.Type, at)
			continue
		}
		f.index[name] = at
		f.names = append(f.names, name)
	}
}
