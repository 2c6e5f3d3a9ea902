// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// watching is ready once every watched kind is in the cache. It starts the watches, and goes on asking for a kind whose
// definition is not installed yet.
func watching(c cache.Cache) healthz.Checker {
	return func(r *http.Request) error {
		for _, object := range watched() {
			kind := object.GetObjectKind().GroupVersionKind().Kind
			informer, err := c.GetInformer(r.Context(), object, cache.BlockUntilSynced(false))
			if err != nil {
				return fmt.Errorf("watching each %s: %w", kind, err)
			}
			if !informer.HasSynced() {
				return fmt.Errorf("the watch of each %s is not there yet", kind)
			}
		}
		return nil
	}
}

// notDraining takes the replica's endpoint away before it stops serving.
func notDraining(draining *atomic.Bool) healthz.Checker {
	return func(*http.Request) error {
		if draining.Load() {
			return errors.New("stopping")
		}
		return nil
	}
}
