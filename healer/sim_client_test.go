// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var errStopped = errors.New("the healer is stopped")

// write is called around each write of the healer.
func (w *world) write(ctx context.Context, what string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.onWrite != nil {
		w.onWrite()
	}
	f := &w.faults
	if f.stopped || f.stopAfter >= 0 && f.writes >= f.stopAfter {
		if !f.stopped {
			w.printf("-- the healer stops before %s", what)
			w.late = func() error { return w.send(what, do) }
		}
		f.stopped = true
		return errStopped
	}
	f.writes++
	if f.failAfter >= 0 && f.writes == f.failAfter+1 {
		w.printf("-- %s fails", what)
		return apierrors.NewInternalError(errors.New("it fails"))
	}
	if err := w.send(what, do); err != nil {
		return err
	}
	if f.loseAfter >= 0 && f.writes == f.loseAfter+1 {
		w.printf("-- the answer is lost")
		return apierrors.NewTimeoutError("the answer is lost", 1)
	}
	return nil
}

// send lets a write reach the API server, which may have an answer of its own.
func (w *world) send(what string, do func() error) error {
	err := w.answer(what)
	if err == nil {
		err = do()
	}
	switch {
	case errors.Is(err, errUnchanged):
		w.printf("%s changes nothing", what)
		w.idle(what)
		return nil
	case err != nil:
		w.printf("%s: %v", what, err)
		w.idle(what)
		return err
	}
	w.wrote++
	delete(w.idled, what)
	w.printf("%s", what)
	w.check()
	return nil
}

func (w *world) kind(o runtime.Object) string {
	gvk, err := w.api.GroupVersionKindFor(o)
	require.NoError(w.t, err)
	return gvk.Kind
}

func (w *world) create(ctx context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
	return w.write(ctx, "create "+w.kind(o)+" "+o.GetName(), func() error {
		w.uids++
		o.SetUID("made")
		o.SetCreationTimestamp(metav1.NewTime(w.now()))
		return w.api.Create(ctx, o)
	})
}

// delete checks preconditions, which every deletion of the healer has, and then what may not be deleted.
func (w *world) delete(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	what := "delete " + w.kind(o) + " " + o.GetName()
	if options.GracePeriodSeconds != nil {
		what += fmt.Sprintf(" grace=%d", *options.GracePeriodSeconds)
	}
	if options.PropagationPolicy != nil {
		what += " " + string(*options.PropagationPolicy)
	}
	if len(options.DryRun) > 0 {
		what += " as a dry run"
	}
	return w.write(ctx, what, func() error {
		p := options.Preconditions
		if p == nil || p.UID == nil || *p.UID == "" || p.ResourceVersion == nil || *p.ResourceVersion == "" {
			w.violated("%s without preconditions", what)
			return errors.New("no preconditions")
		}
		if err := w.api.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if o.GetUID() != *p.UID || o.GetResourceVersion() != *p.ResourceVersion {
			return conflict(o, fmt.Sprintf("%s at %s is not %s at %s", o.GetUID(), o.GetResourceVersion(), *p.UID, *p.ResourceVersion))
		}
		if len(options.DryRun) > 0 {
			return errUnchanged
		}
		w.mayDelete(o, options.GracePeriodSeconds != nil)
		w.remove(o, options.GracePeriodSeconds, options.PropagationPolicy != nil && *options.PropagationPolicy == metav1.DeletePropagationForeground)
		return nil
	})
}

func conflict(o client.Object, why string) error {
	return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New(why))
}

func (w *world) patch(ctx context.Context, _ client.WithWatch, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	raw, err := patch.Data(o)
	require.NoError(w.t, err)
	var body map[string]any
	require.NoError(w.t, json.Unmarshal(raw, &body))
	metadata := body["metadata"].(map[string]any)
	uid, version := metadata["uid"], metadata["resourceVersion"]
	delete(metadata, "uid")
	delete(metadata, "resourceVersion")
	shown, err := json.Marshal(body)
	require.NoError(w.t, err)
	return w.write(ctx, fmt.Sprintf("patch %s %s %s", w.kind(o), o.GetName(), shown), func() error {
		live := o.DeepCopyObject().(client.Object)
		if err := w.api.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
			return err
		}
		switch {
		case uid == nil:
			w.violated("patch of %s without UID", o.GetName())
		case uid != string(live.GetUID()):
			return conflict(o, "another object by now")
		case version != nil && version != live.GetResourceVersion():
			return conflict(o, "modified")
		}
		if err := w.api.Patch(ctx, o, client.RawPatch(patch.Type(), raw)); err != nil {
			return err
		}
		w.hide(o)
		return nil
	})
}

// apply supports what the healer applies: replicas, to an object with this UID and resourceVersion.
func (w *world) apply(ctx context.Context, _ client.WithWatch, configuration runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	raw, err := json.Marshal(configuration)
	require.NoError(w.t, err)
	var body struct {
		Kind     string
		Metadata metav1.ObjectMeta
		Spec     map[string]int32
	}
	require.NoError(w.t, json.Unmarshal(raw, &body))
	replicas := body.Spec["replicas"]
	return w.write(ctx, fmt.Sprintf("apply %s %s replicas=%d", body.Kind, body.Metadata.Name, replicas), func() error {
		o := blank(body.Kind)
		if err := w.api.Get(ctx, client.ObjectKey{Namespace: body.Metadata.Namespace, Name: body.Metadata.Name}, o); err != nil {
			return err
		}
		if len(body.Spec) != 1 || body.Metadata.UID == "" {
			w.violated("applied more than replicas, or without UID")
		}
		if o.GetUID() != body.Metadata.UID || o.GetResourceVersion() != body.Metadata.ResourceVersion {
			return conflict(o, "another, or modified")
		}
		w.mayScale(o, int(replicas))
		w.scaleTo(o, replicas)
		version, ok := configuration.(interface{ SetResourceVersion(string) })
		require.True(w.t, ok)
		version.SetResourceVersion(o.GetResourceVersion())
		return nil
	})
}

func (w *world) patchStatus(ctx context.Context, _ client.Client, _ string, o client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	status := o.(v1alpha1.Fleet).State()
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	what := fmt.Sprintf("status %s %s: %s", status.Phase, ready.Reason, ready.Message)
	return w.write(ctx, what, func() error { return w.api.SubResource("status").Patch(ctx, o, patch) })
}

// hide takes away what only the models know of.
func (w *world) hide(o client.Object) {
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == kubeletHold }))
}

func (w *world) liveGet(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	return w.read(ctx, w.api, key, o)
}

func (w *world) read(ctx context.Context, from client.Client, key client.ObjectKey, o client.Object) error {
	if w.faults.stopped {
		return errStopped
	}
	err := from.Get(ctx, key, o)
	w.hide(o)
	return err
}

// cachedGet shows what carries the identity label, and of fleets and reservations all.
func (w *world) cachedGet(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	from := w.api
	if w.frozen != nil {
		from = w.frozen
	}
	if err := w.read(ctx, from, key, o); err != nil {
		return err
	}
	gvk, err := w.api.GroupVersionKindFor(o)
	if err != nil {
		return err
	}
	if gvk.Group != v1alpha1.GroupVersion.Group && o.GetLabels()[v1alpha1.LabelFleetUID] == "" {
		return apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(gvk.Kind)}, key.Name)
	}
	return nil
}

func (w *world) liveList(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	defer w.clock.SetTime(w.now().Add(w.faults.slow))
	return w.list(ctx, w.api, list, opts...)
}

func (w *world) cachedList(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	if w.frozen != nil {
		return w.list(ctx, w.frozen, list, opts...)
	}
	return w.list(ctx, w.api, list, opts...)
}

func (w *world) list(ctx context.Context, from client.Client, list client.ObjectList, opts ...client.ListOption) error {
	if w.faults.stopped {
		return errStopped
	}
	if events, ok := list.(*corev1.EventList); ok {
		return w.eventsOf(ctx, events, opts)
	}
	if err := from.List(ctx, list, opts...); err != nil {
		return err
	}
	if pods, ok := list.(*corev1.PodList); ok {
		for i := range pods.Items {
			w.hide(&pods.Items[i])
		}
	}
	return nil
}
