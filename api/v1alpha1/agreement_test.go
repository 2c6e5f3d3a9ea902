// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/crdcheck"
)

// Whatever the definition refuses, Validate refuses, at the same field; whatever Validate accepts, the definition accepts: as
// written, as Go prints it, and with defaults; and editors do not underline it.
func TestValidateAgreesWithCRD(t *testing.T) {
	forEachKind(t, 1500, func(t *rapid.T, g *generator, check *crdcheck.Checker) {
		obj := g.fleet(t, 4, "metadata", "spec")
		f, err := decode(g.kind, obj)
		if err != nil {
			return // what cannot be read is refused by whoever reads it
		}
		requireAgreement(t, f.Validate(), check.Create(obj))

		printed := encode(t, f)
		requireAgreement(t, f.Validate(), check.Create(printed))

		overCap := v1alpha1.ValidateCap(f)
		wasValid := len(f.Validate()) == 0
		if wasValid {
			require.NoError(t, g.editor.Validate(obj))
		}
		f.Default()
		once := clone(f)
		f.Default()
		require.Empty(t, cmp.Diff(once, f), "Default is not idempotent")
		if wasValid {
			require.Empty(t, f.Validate(), "a default broke a valid fleet")
		}
		requireAgreement(t, f.Validate(), check.Create(encode(t, f)))
		require.Equal(t, overCap, v1alpha1.ValidateCap(f), "a default changed what the zones hold")
	})
}

// A change between two valid fleets is refused by ValidateUpdate and by the policy, at the same fields, defaulted or not, or by
// neither, and never by the definition.
func TestValidateUpdateAgreesWithPolicy(t *testing.T) {
	policy, err := crdcheck.LoadPolicy()
	require.NoError(t, err)
	forEachKind(t, 1500, func(t *rapid.T, g *generator, check *crdcheck.Checker) {
		forbidden := func(obj, old map[string]any) []string {
			require.Equal(t, check.Create(obj), check.Update(obj, old), "the definition forbids a change")
			errs, err := policy.Update(obj, old)
			require.NoError(t, err)
			return fields(errs)
		}
		old := g.fleet(t, 1, immutable[g.kind]...)
		obj := old
		if rapid.Bool().Draw(t, "unrelated") {
			obj = g.valid(t)
		}
		obj = g.change(t, obj, 3, append([]string{"spec.placement", "spec.resources"}, immutable[g.kind]...)...)
		f, err := decode(g.kind, obj)
		was, oldErr := decode(g.kind, old)
		if err != nil || oldErr != nil || len(f.Validate()) > 0 || len(was.Validate()) > 0 {
			return
		}
		want := fields(f.ValidateUpdate(was))
		require.Equal(t, want, forbidden(obj, old))

		f.Default()
		require.Equal(t, want, fields(f.ValidateUpdate(was)), "a default is a change")
		require.Equal(t, want, forbidden(encode(t, f), old), "a default is a change")
	})
}

// forEachKind runs a property on n objects of each kind, the same ones every time. Flags of rapid change both.
func forEachKind(t *testing.T, n int, property func(*rapid.T, *generator, *crdcheck.Checker)) {
	t.Helper()
	setDefault(t, "rapid.checks", strconv.Itoa(n))
	setDefault(t, "rapid.seed", "1")
	all := checkers(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := newGenerator(t, kind)
			rapid.Check(t, func(t *rapid.T) { property(t, g, all[kind]) })
		})
	}
}

func setDefault(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	if before := f.Value.String(); before == f.DefValue {
		require.NoError(t, f.Value.Set(value))
		t.Cleanup(func() { require.NoError(t, f.Value.Set(before)) })
	}
}

// requireAgreement says that Go refuses an object if the definition does, and for every field that the definition names. For
// a rule over several fields of one object, Go may name another of them, such as the one that is out of range.
func requireAgreement(t *rapid.T, byGo, byCRD field.ErrorList) {
	for _, e := range byCRD {
		where := e.Field
		if rule := !strings.Contains(e.Detail, " in body "); rule && strings.Contains(where, ".") {
			where = where[:strings.LastIndex(where, ".")]
		}
		require.True(t, slices.ContainsFunc(byGo, func(g *field.Error) bool { return sameField(where, g.Field) }),
			"the definition refuses: %v\nbut Go says: %v", e, byGo.ToAggregate())
	}
}

func fields(errs field.ErrorList) []string {
	paths := []string{}
	for _, e := range errs {
		paths = append(paths, e.Field)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
