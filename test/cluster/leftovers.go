// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// An existing cluster is left as it was. What tests create in namespaces goes
// with the namespaces, which are theirs too.

// remembering notes what is created outside of namespaces.
func (c *Cluster) remembering(inner client.WithWatch) client.Client {
	return interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := inner.Create(ctx, object, options...); err != nil {
				return err
			}
			if dry := (&client.CreateOptions{}).ApplyOptions(options).DryRun; len(dry) > 0 || object.GetNamespace() != "" {
				return nil
			}
			made := &unstructured.Unstructured{}
			gvk, err := apiutil.GVKForObject(object, inner.Scheme())
			if err != nil {
				return err
			}
			made.SetGroupVersionKind(gvk)
			made.SetName(object.GetName())
			c.mu.Lock()
			c.made = append(c.made, made)
			c.mu.Unlock()
			return nil
		},
	})
}

// removeMade deletes what was created, the last first, and returns when all of
// it is gone.
func (c *Cluster) removeMade(ctx context.Context) error {
	c.mu.Lock()
	left := slices.Clone(c.made)
	c.mu.Unlock()
	slices.Reverse(left)
	for _, object := range left {
		// A namespace that ends already is in conflict with its deletion.
		if err := c.Client.Delete(ctx, object); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("removing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for len(left) > 0 {
		gone, err := c.isGone(ctx, left[0])
		if err != nil {
			return fmt.Errorf("removing %s %s: %w", left[0].GetKind(), left[0].GetName(), err)
		}
		if gone {
			left = left[1:]
			continue
		}
		for _, object := range left {
			if err := c.release(ctx, object); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s does not go: %w", left[0].GetKind(), left[0].GetName(), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

func (c *Cluster) isGone(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// release drops the finalizers of a definition's objects, since the healers
// that would do it have ended.
func (c *Cluster) release(ctx context.Context, object *unstructured.Unstructured) error {
	if object.GetKind() != "CustomResourceDefinition" {
		return nil
	}
	stored := object.DeepCopy()
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
		return client.IgnoreNotFound(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, definition); err != nil {
		return err
	}
	for _, version := range definition.Spec.Versions {
		if !version.Storage {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.ListKind,
		})
		if err := c.Client.List(ctx, list); err != nil {
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				return nil
			}
			return err
		}
		for i := range list.Items {
			if held := &list.Items[i]; len(held.GetFinalizers()) > 0 && held.GetDeletionTimestamp() != nil {
				err := c.Client.Patch(ctx, held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
				if client.IgnoreNotFound(err) != nil {
					return err
				}
			}
		}
	}
	return nil
}
