// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A celCase is an object that exactly one CEL rule refuses.
type celCase struct {
	kind  string // empty: both fleets
	patch string // turns the valid object into the one that is refused
	old   string // for a rule about changes: turns the valid object into the one before
	want  string // the path and the message
}

// Each rule of each kind refuses what it is for, and has a case of its own; Validate refuses the same.
func TestCELRules(t *testing.T) {
	all := checkers(t)
	missing := map[string]bool{}
	for kind, check := range all {
		walk(kind, check.Schema, func(path string, s *schema.Structural) {
			for _, rule := range s.XValidations {
				id := ruleID(path+rule.FieldPath, rule.Message)
				require.NotContains(t, missing, id, "two rules that nobody can tell apart")
				missing[id] = true
			}
		})
	}
	for name, c := range celCases {
		for _, kind := range c.kinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				obj := object(t, kind, c.patch)
				errs := all[kind].Create(obj)
				if c.old != "" {
					require.Empty(t, errs, "the object itself is fine, only the change is not")
					errs = all[kind].Update(obj, object(t, kind, c.old))
				}
				require.Equal(t, []string{c.want}, pathsAndMessages(errs))
				delete(missing, ruleID(kind+strings.TrimPrefix("."+c.want[:strings.Index(c.want, ":")], ".<nil>"), errs[0].Detail))
				if kind != v1alpha1.KindStorageReservation {
					requireGoAgrees(t, kind, c)
				}
			})
		}
	}
	require.Empty(t, missing, "CEL rules without a case")
}

func (c celCase) kinds() []string {
	if c.kind == "" {
		return kinds
	}
	return []string{c.kind}
}

func requireGoAgrees(t *testing.T, kind string, c celCase) {
	t.Helper()
	f := typed(t, kind, c.patch)
	errs := f.Validate()
	if c.old != "" {
		require.Empty(t, errs)
		errs = f.ValidateUpdate(typed(t, kind, c.old))
	}
	path, _, _ := strings.Cut(c.want, ":")
	require.True(t, slices.ContainsFunc(errs, func(e *field.Error) bool { return sameField(path, e.Field) }),
		"Go says nothing about %s: %v", path, errs)
}

var index = regexp.MustCompile(`\[[^]]*\]`)

// ruleID names a rule by where it reports and what it says, whatever the index.
func ruleID(path, message string) string { return index.ReplaceAllString(path, "[]") + ": " + message }

func pathsAndMessages(errs field.ErrorList) []string {
	var lines []string
	for _, e := range errs {
		lines = append(lines, e.Field+": "+e.Detail)
	}
	return lines
}

// sameField tells whether two paths of one mistake agree: one of them leads to the other. The root stands for metadata.name,
// since CEL at the root can name no other field.
func sameField(a, b string) bool {
	if a == "<nil>" {
		return b == "metadata.name"
	}
	return a == b || strings.HasPrefix(b, a+".") || strings.HasPrefix(b, a+"[") ||
		strings.HasPrefix(a, b+".") || strings.HasPrefix(a, b+"[")
}
