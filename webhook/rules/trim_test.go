// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutManagedFields(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"cut":               {`{"metadata":{"name":"a","managedFields":[{"f:x":{"a":"]}"}}],"uid":"1"},"spec":{}}`, `{"metadata":{"name":"a","managedFields":null,"uid":"1"},"spec":{}}`},
		"last, with spaces": {"{ \"metadata\" : {\"managedFields\" :\n[ ] } }", "{ \"metadata\" : {\"managedFields\" :null } }"},
		"elsewhere":         {`{"spec":{"metadata":{"managedFields":[1]}},"managedFields":[2]}`, ""},
		"in a string":       {`{"metadata":{"a":"managedFields\":[","managedFields\"":[1]}}`, ""},
		"a value":           {`{"kind":"metadata","metadata":{"a":"managedFields","b":[1]}}`, ""},
		"a scalar":          {`{"metadata":{"managedFields":1,"b":[1]}}`, ""},
		"none":              {`{"metadata":{}}`, ""},
		"cut off":           {`{"metadata":{"managedFields":[`, ""},
		"open string":       {`{"metadata":{"mana`, ""},
		"closed too often":  {`}}]]{"metadata":{"managedFields":[1]}}`, ""},
		"nothing":           {``, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.want == "" {
				tc.want = tc.text
			}
			require.Equal(t, tc.want, string(withoutManagedFields([]byte(tc.text))))
		})
	}
}

// What is JSON stays JSON, and loses nothing else.
func FuzzWithoutManagedFields(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","managedFields":[{"f:x":{"a":"]}"}}],"uid":"1"},"spec":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var before map[string]any
		if json.Unmarshal(text, &before) != nil {
			_ = withoutManagedFields(text)
			return
		}
		cut := withoutManagedFields(text)
		var after map[string]any
		require.NoError(t, json.Unmarshal(cut, &after), "%s", cut)
		if string(cut) == string(text) {
			return
		}
		require.Len(t, after, len(before))
	})
}
