// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// matchers are the conditions of each guard as the API server compiles them.
func matchers(t testing.TB) map[string]matchconditions.Matcher {
	t.Helper()
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	out := map[string]matchconditions.Matcher{}
	webhooks := Configuration(DefaultNamespace).Webhooks
	for i, g := range guards() {
		out[g.Name] = webhook.NewValidatingWebhookAccessor(g.Name, Name, &webhooks[i]).GetCompiledMatcher(compiler)
	}
	return out
}

// asked says whether the API server would ask the webhook. A missing object is nil.
func asked(t testing.TB, guard matchconditions.Matcher, operation admission.Operation, who string, old, object map[string]any) bool {
	t.Helper()
	return askedWith(t, guard, operation, nil, who, old, object)
}

func askedWith(t testing.TB, guard matchconditions.Matcher, operation admission.Operation, options runtime.Object, who string, old, object map[string]any) bool {
	t.Helper()
	typed := func(o map[string]any) runtime.Object {
		if o == nil {
			return nil
		}
		return &unstructured.Unstructured{Object: o}
	}
	attributes := admission.NewAttributesRecord(typed(object), typed(old), schema.GroupVersionKind{}, "fleets", "my-fleet",
		schema.GroupVersionResource{}, "", operation, options, false, &user.DefaultInfo{Name: who})
	versioned := &admission.VersionedAttributes{Attributes: attributes}
	versioned.VersionedObject.Set(typed(object))
	versioned.VersionedOldObject.Set(typed(old))
	result := guard.Match(t.Context(), versioned, nil, nil)
	require.NoError(t, result.Error)
	return result.Matches
}

func object(metadata map[string]any, spec any) map[string]any {
	o := map[string]any{"apiVersion": "v1", "kind": "Thing", "metadata": metadata}
	if spec != nil {
		o["spec"] = spec
	}
	return o
}

func with(key string, value any) map[string]any { return map[string]any{key: value} }

const (
	sealKey    = "celld.eric.dev/seal"
	uidKey     = "celld.eric.dev/fleet-uid"
	namespaces = "system:serviceaccount:kube-system:namespace-controller"
	garbage    = "system:serviceaccount:kube-system:generic-garbage-collector"
	sets       = "system:serviceaccount:kube-system:statefulset-controller"
)

// A sealed object is asked about when what its seal covers may change, and for no other key.
func TestRenderedPartChanges(t *testing.T) {
	sealed := with("annotations", with(sealKey, "v1"))
	both := func(field string, m map[string]any) map[string]any {
		out := maps.Clone(sealed)
		if field == "annotations" {
			m = maps.Clone(m)
			m[sealKey] = "v1"
		}
		out[field] = m
		return out
	}
	tests := map[string]struct {
		was, is map[string]any
		spec    any
		want    bool
	}{
		"nothing":                    {was: sealed, is: sealed},
		"spec":                       {was: sealed, is: sealed, spec: with("a", "b"), want: true},
		"owner":                      {was: sealed, is: both("ownerReferences", nil), want: true},
		"tracking":                   {was: sealed, is: both("annotations", with("argocd.argoproj.io/tracking-id", "x"))},
		"first label":                {was: sealed, is: both("labels", with("team", "a"))},
		"last label":                 {was: both("labels", with("team", "a")), is: sealed},
		"app name":                   {was: both("labels", with("app.kubernetes.io/name", "celld")), is: sealed, want: true},
		"seal":                       {was: sealed, is: with("annotations", with(sealKey, "v2")), want: true},
		"no annotations any more":    {was: sealed, is: map[string]any{}, want: true},
		"identity":                   {was: both("labels", with(uidKey, "a")), is: both("labels", with(uidKey, "b")), want: true},
		"stray annotation":           {was: sealed, is: both("annotations", with("celld.eric.dev/protect", "true")), want: true},
		"stray annotation goes":      {was: both("annotations", with("celld.eric.dev/protect", "true")), is: sealed, want: true},
		"stray annotation stays":     {was: both("annotations", with("celld.eric.dev/protect", "true")), is: both("annotations", map[string]any{"celld.eric.dev/protect": "true", "a": "b"})},
		"first label is a stray one": {was: sealed, is: both("labels", with("celld.eric.dev/mine", "")), want: true},
		"stray label to nothing":     {was: both("labels", with("celld.eric.dev/mine", "a")), is: both("labels", with("celld.eric.dev/mine", "")), want: true},
		"key that only looks alike":  {was: sealed, is: both("labels", with("celld.eric.dev.example/mine", ""))},
	}
	all := matchers(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, guard := range []string{"workload", "part"} {
				require.Equal(t, tc.want, asked(t, all[guard], admission.Update, "jane", object(tc.was, nil), object(tc.is, tc.spec)), guard)
			}
		})
	}
}

// An object as full of labels and annotations as the API server takes does not cost more than it allows.
func TestConditionsOfFullObjects(t *testing.T) {
	full := func(value string) map[string]any {
		keys := map[string]any{sealKey: value}
		for i := range 10_000 {
			keys[fmt.Sprintf("celld.eric.dev/%05d", i)] = "" // 200 KiB; annotations may have 256
		}
		return map[string]any{"labels": maps.Clone(keys), "annotations": keys}
	}
	for name, guard := range matchers(t) {
		t.Run(name, func(t *testing.T) {
			if name == "scale" || name == "fleet-scale" || name == "claim-by-name" {
				return // they do not look at either
			}
			_ = askedWith(t, guard, admission.Delete, &metav1.DeleteOptions{}, "jane", object(full("a"), nil), object(full("a"), nil))
			_ = asked(t, guard, admission.Update, "jane", object(full("a"), nil), object(full("a"), nil))
			_ = asked(t, guard, admission.Update, "jane", object(full("a"), nil), object(full("b"), nil))
		})
	}
}

// The control plane ends namespaces without the webhook. Who collects garbage is asked about a workload.
func TestControlPlaneIsNotAsked(t *testing.T) {
	protected := object(with("annotations", with("celld.eric.dev/protect", "true")), nil)
	tests := map[string]map[string]bool{
		"fleet-delete": {"jane": true, garbage: true, namespaces: false},
		"workload":     {"jane": true, garbage: true, namespaces: false},
		"claim":        {"jane": true, garbage: false, namespaces: false},
	}
	all := matchers(t)
	for guard, users := range tests {
		for who, want := range users {
			require.Equal(t, want, asked(t, all[guard], admission.Delete, who, protected, nil), "%s by %s", guard, who)
		}
	}
	was, is := object(map[string]any{}, nil), object(map[string]any{}, with("a", "b"))
	require.True(t, asked(t, all["workload"], admission.Update, namespaces, was, is), "only deletions are meant")
}

// A claim is asked about when it gets another fleet, or an owner from somebody who is no controller of the control plane.
func TestClaimIsHandedOver(t *testing.T) {
	owner := func(names ...string) map[string]any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"kind": "ConfigMap", "name": name, "uid": name})
		}
		return with("ownerReferences", list)
	}
	tests := map[string]struct {
		was, is map[string]any
		who     string
		want    bool
	}{
		"nothing":                    {was: map[string]any{}, is: map[string]any{}},
		"annotation":                 {was: map[string]any{}, is: with("annotations", with("a", "b"))},
		"identity":                   {was: with("labels", with(uidKey, "a")), is: map[string]any{}, want: true},
		"first owner":                {was: map[string]any{}, is: owner("a"), want: true},
		"another owner":              {was: owner("a"), is: owner("a", "b"), want: true},
		"owner goes":                 {was: owner("a", "b"), is: owner("b")},
		"last owner goes":            {was: owner("a"), is: map[string]any{}},
		"owner stays":                {was: owner("a"), is: owner("a")},
		"by the StatefulSet's own":   {was: map[string]any{}, is: owner("a"), who: sets, want: true},
		"by the garbage collector":   {was: owner("a"), is: owner("b"), who: garbage},
		"identity, by a controller":  {was: with("labels", with(uidKey, "a")), is: map[string]any{}, who: sets, want: true},
		"by a controller of another": {was: map[string]any{}, is: owner("a"), who: "system:serviceaccount:other:statefulset-controller", want: true},
	}
	guard := matchers(t)["claim"]
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.who == "" {
				tc.who = "jane"
			}
			require.Equal(t, tc.want, asked(t, guard, admission.Update, tc.who, object(tc.was, nil), object(tc.is, nil)))
		})
	}
}

// A fleet's deletion is asked about when it is protected, or is to orphan what it has, however that is said.
func TestFleetDeleteIsAsked(t *testing.T) {
	orphan, background, yes := metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground, true
	plain := object(map[string]any{"name": "a"}, nil)
	guard := matchers(t)["fleet-delete"]
	for name, tc := range map[string]struct {
		options *metav1.DeleteOptions
		old     map[string]any
		want    bool
	}{
		"plain":              {options: &metav1.DeleteOptions{}, old: plain},
		"background":         {options: &metav1.DeleteOptions{PropagationPolicy: &background}, old: plain},
		"orphan":             {options: &metav1.DeleteOptions{PropagationPolicy: &orphan}, old: plain, want: true},
		"orphan, old option": {options: &metav1.DeleteOptions{OrphanDependents: &yes}, old: plain, want: true}, //nolint:staticcheck // clients may send it
		"orphan, finalizer":  {options: &metav1.DeleteOptions{}, old: object(with("finalizers", []any{"orphan"}), nil), want: true},
		"protected":          {options: &metav1.DeleteOptions{}, old: object(with("annotations", with("celld.eric.dev/protect", "")), nil), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, askedWith(t, guard, admission.Delete, tc.options, "jane", tc.old, nil))
		})
	}
	require.False(t, asked(t, guard, admission.Delete, "jane", plain, nil), "without options")
}

// A part is asked about from the moment that it has a seal.
func TestPartIsAsked(t *testing.T) {
	sealed, plain := object(with("annotations", with(sealKey, "v1")), nil), object(map[string]any{}, nil)
	guard := matchers(t)["part"]
	require.True(t, asked(t, guard, admission.Create, "jane", nil, sealed))
	require.False(t, asked(t, guard, admission.Create, "jane", nil, plain))
	require.True(t, asked(t, guard, admission.Update, "jane", plain, sealed))
	require.True(t, asked(t, guard, admission.Update, "jane", sealed, plain))
	require.False(t, asked(t, guard, admission.Update, "jane", sealed, sealed))
}

// Of definitions those of fleets and reservations are asked about, and of what is being deleted nothing.
func TestWholesaleDeletionIsAsked(t *testing.T) {
	all := matchers(t)
	named := func(name string) map[string]any { return object(map[string]any{"name": name}, nil) }
	going := object(map[string]any{"name": "persistentfleets.celld.eric.dev", "deletionTimestamp": "2026-01-03T00:00:00Z"}, nil)
	require.True(t, asked(t, all["definition"], admission.Delete, "jane", named("persistentfleets.celld.eric.dev"), nil))
	require.True(t, asked(t, all["definition"], admission.Delete, "jane", named("storagereservations.celld.eric.dev"), nil))
	require.False(t, asked(t, all["definition"], admission.Delete, "jane", named("certificates.cert-manager.io"), nil))
	require.False(t, asked(t, all["definition"], admission.Delete, "jane", going, nil))
	require.True(t, asked(t, all["namespace"], admission.Delete, "jane", named("fleets"), nil))
	require.False(t, asked(t, all["namespace"], admission.Delete, "jane", going, nil))
}
