// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Whatever bytes a fleet is read from, nothing panics, Default is idempotent, and a fleet that was valid stays so.
func FuzzFleet(f *testing.F) {
	for _, kind := range kinds {
		for _, patch := range append([]string{"{}", everythingMutable}, validParts...) {
			obj := merge(parse(f, valid[kind]), parse(f, patch))
			text, err := json.Marshal(obj)
			require.NoError(f, err)
			f.Add(text)
		}
	}
	for _, text := range []string{
		``, `{}`, `null`, `{"spec":null}`, `{"spec":{"replicas":-1,"storage":{"bucket":"://","size":"-1e-9"}}}`,
		`{"spec":{"env":[null,{}],"placement":{"tolerations":[{}],"zones":[null]},"network":{"extraEgress":[{"to":[{}],"ports":[{}]}]}}}`,
		`{"spec":{"resources":{"limits":{"":"0","memory":"1e100"},"requests":{"memory":"-1"}},"telemetry":{"egress":{}},"routing":{"source":{}}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, kind := range kinds {
			fleet := newFleet(kind)
			_ = yaml.Unmarshal(text, fleet) // what was read before an error must not panic either
			old := clone(fleet)
			before := fleet.Validate()
			fleet.Default()
			once := encode(t, fleet)
			fleet.Default()
			require.Equal(t, once, encode(t, fleet))
			if len(before) == 0 {
				require.Empty(t, fleet.Validate())
				require.Empty(t, fleet.ValidateUpdate(old))
			}
			_ = fleet.ValidateUpdate(old)
			_ = old.ValidateUpdate(fleet)
		}
	})
}
