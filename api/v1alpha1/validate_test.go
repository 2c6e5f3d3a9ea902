// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A validateCase is a change to the valid fleet and everything that Validate says about it.
type validateCase struct {
	kind  string   // empty: both fleets
	patch string   // a merge patch
	want  []string // every error, in order; "..." at the end stands for more of Kubernetes' own words
}

// Validate reports every mistake, at its exact path; what it accepts, the definition accepts as well.
func TestValidate(t *testing.T) {
	all := checkers(t)
	for group, cases := range map[string]map[string]validateCase{
		"metadata": validateMetadata, "spec": validateSpec, "placement": validatePlacement, "resources": validateResources,
		"env": validateEnv, "podMetadata": validatePodMetadata, "storage": validateStorage, "telemetry": validateTelemetry,
		"network": validateNetwork, "routing": validateRouting,
	} {
		for name, c := range cases {
			for _, kind := range (celCase{kind: c.kind}).kinds() {
				t.Run(group+"/"+name+"/"+kind, func(t *testing.T) {
					var got []string
					for _, e := range typed(t, kind, c.patch).Validate() {
						got = append(got, e.Error())
					}
					require.Equal(t, c.want, shortened(got, c.want))
					if len(c.want) == 0 && name != "no namespace yet" {
						require.Empty(t, all[kind].Create(object(t, kind, c.patch)))
					}
				})
			}
		}
	}
}

// shortened cuts each message where the wanted one stops.
func shortened(got, want []string) []string {
	out := append([]string(nil), got...)
	for i := range out {
		if i >= len(want) {
			break
		}
		if prefix, cut := strings.CutSuffix(want[i], "..."); cut && strings.HasPrefix(out[i], prefix) {
			out[i] = want[i]
		}
	}
	return out
}

// many repeats a format with numbers, as the items of a YAML flow list or map.
func many(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ", ")
}
