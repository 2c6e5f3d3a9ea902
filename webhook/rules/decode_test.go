// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":`

var reviews = map[string]string{
	"both":              `{"uid":"1","operation":"UPDATE","object":{"a":["}\"{"]},"oldObject":{"metadata":{"name":"a"}},"dryRun":true}}`,
	"the other way":     `{"uid":"1","operation":"UPDATE","oldObject":{"a":1},"name":"n","object":{"metadata":{"name":"b"}}}}`,
	"created":           `{"uid":"1","operation":"CREATE","object":{"kind":"Pod"},"oldObject":null}}`,
	"deleted":           `{"uid":"1","operation":"DELETE","object":null,"oldObject":{"kind":"Pod"},"options":{"propagationPolicy":"Orphan","object":{"no":1}}}}`,
	"spaces":            "\n{ \"operation\" : \"UPDATE\",\"object\" : { \"kind\" : \"a\" } , \"oldObject\" :\t{ } }\n}",
	"elsewhere":         `{"operation":"CREATE","name":"object","userInfo":{"username":"jane","extra":{"object":["{"]}},"object":{"kind":"a"}}}`,
	"resource":          `{"operation":"CREATE","namespace":"n","resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale","object":{}}}`,
	"escaped backslash": `{"operation":"CREATE","name":"a\\","object":{"kind":"b\\\\","c":"\\\""}}}`,
	"other characters":  `{"operation":"CREATE","name":"é\u00e9","object":{"kind":"é"}}}`,
	"object is text":    `{"operation":"CREATE","object":"x"}}`,
	"object is number":  `{"operation":"CREATE","object":1 }}`,
	"none":              `{"uid":"1"}}`,
}

// A review says what it says to the API server's own types.
func TestDecode(t *testing.T) {
	for name, text := range reviews {
		t.Run(name, func(t *testing.T) { requireSameReview(t, []byte(head+text)) })
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range reviews {
		f.Add([]byte(head + text))
	}
	f.Fuzz(requireSameReview)
}

func requireSameReview(t *testing.T, body []byte) {
	var review admissionv1.AdmissionReview
	in, _ := rules.Decode(body, rulestest.Healer)
	if json.UnmarshalCaseSensitivePreserveInts(body, &review) != nil || in == nil || repeats(body) {
		return
	}
	want := review.Request
	require.Equal(t, [...]string{string(want.UID), string(want.Operation), want.Resource.Resource, want.SubResource,
		want.Namespace, want.Name, want.UserInfo.Username},
		[...]string{in.UID, string(in.Operation), in.Resource, in.Subresource, in.Namespace, in.Name, in.User})
	require.Equal(t, want.DryRun != nil && *want.DryRun, in.DryRun)
	for _, o := range []struct {
		raw []byte
		got *rules.Object
	}{{want.Object.Raw, in.Object}, {want.OldObject.Raw, in.Old}} {
		if o.got == nil {
			continue
		}
		var object metav1.PartialObjectMetadata
		if json.UnmarshalCaseSensitivePreserveInts(o.raw, &object) == nil {
			require.Equal(t, [...]string{object.Kind, object.Namespace, object.Name}, [...]string{o.got.Kind, o.got.Namespace, o.got.Name})
		}
	}
}

// repeats says that a key stands twice in one map of the review. Which of them counts differs, and no API server sends such.
func repeats(body []byte) bool {
	root, err := tree.FromJSON(body)
	return err != nil || !root.Walk(func(n *tree.Node) bool {
		keys := map[string]bool{}
		for _, f := range n.Fields {
			if keys[f.Key] {
				return false
			}
			keys[f.Key] = true
		}
		return true
	})
}

// What is no review, or holds too much, is refused before anything is made of it.
func TestDecodeTakesLittle(t *testing.T) {
	many := strings.Repeat(`{},`, 1_000_000)
	for name, body := range map[string]string{
		"cut off":     head + `{"object":[` + many,
		"wide object": head + `{"operation":"CREATE","object":{"a":[` + many + `1]}}}`,
		"wide review": head + `{"operation":"CREATE","userInfo":{"groups":[` + many + `1]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			allocations := testing.AllocsPerRun(1, func() {
				_, err := rules.Decode([]byte(body), rulestest.Healer)
				require.Error(t, err)
			})
			require.Less(t, allocations, 1000.0)
		})
	}
}

// What a deletion leaves behind is said by its policy, else by the older option, else by a finalizer.
func TestOrphans(t *testing.T) {
	const orphan = `"finalizers":["orphan"]`
	for name, tc := range map[string]struct {
		options, metadata string
		want              bool
	}{
		"nothing":         {options: `null`},
		"policy":          {options: `{"propagationPolicy":"Orphan"}`, want: true},
		"other policy":    {options: `{"propagationPolicy":"Background","orphanDependents":true}`, metadata: orphan},
		"older":           {options: `{"orphanDependents":true}`, want: true},
		"older says no":   {options: `{"orphanDependents":false}`, metadata: orphan},
		"finalizer":       {options: `{}`, metadata: orphan, want: true},
		"other finalizer": {options: `{}`, metadata: `"finalizers":["orphans",1]`},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := rules.Decode([]byte(head+`{"operation":"DELETE","options":`+tc.options+`,"oldObject":{"metadata":{`+tc.metadata+`}}}}`), rulestest.Healer)
			require.NoError(t, err)
			require.Equal(t, tc.want, in.Orphan)
		})
	}
}
