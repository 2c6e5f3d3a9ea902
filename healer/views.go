// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/healer/rules"
)

// written is one write of the healer's own.
type written struct {
	rules.Ref
	version string // that the write made
	made    bool   // the object did not exist before
	deleted bool
}

// views remembers the last writes about each fleet until the caches show them. It is lost with the process, whose caches
// then start anew.
type views struct {
	mu     sync.Mutex
	writes map[Request][]written
}

func newViews() *views { return &views{writes: map[Request][]written{}} }

func (v *views) wrote(fleet Request, w written) {
	v.mu.Lock()
	defer v.mu.Unlock()
	others := slices.DeleteFunc(v.writes[fleet], func(old written) bool {
		return old.Kind == w.Kind && old.Name == w.Name && old.UID == w.UID
	})
	v.writes[fleet] = append(others, w)
}

func (v *views) forget(fleet Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.writes, fleet)
}

// current reports whether the caches show every write about a fleet.
func (v *views) current(ctx context.Context, cache client.Reader, fleet Request) (bool, error) {
	v.mu.Lock()
	writes := slices.Clone(v.writes[fleet])
	v.mu.Unlock()
	for _, w := range writes {
		shown, err := w.shown(ctx, cache)
		if !shown || err != nil {
			return false, err
		}
	}
	v.forget(fleet)
	return true, nil
}

// shown reports whether a cache is at least as new as the write: it has this version or a later one, or the object has gone
// since. An object that was made has to be there first.
func (w written) shown(ctx context.Context, cache client.Reader) (bool, error) {
	object, err := newObject(w.Kind)
	if err != nil {
		return false, err
	}
	found, err := exists(cache.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name}, object))
	switch {
	case err != nil:
		return false, err
	case !found:
		return !w.made, nil
	case w.UID != "" && string(object.GetUID()) != w.UID:
		return true, nil
	case w.deleted:
		return !object.GetDeletionTimestamp().IsZero(), nil
	}
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), w.version)
	if err != nil {
		return true, nil //nolint:nilerr // versions that cannot be compared say nothing
	}
	return order >= 0, nil
}
