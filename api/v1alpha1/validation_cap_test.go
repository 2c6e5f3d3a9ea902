// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// The zones of a Strict fleet hold so many members and no more, and the message names the number that would do.
func TestValidateCap(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		patch string
		want  string
	}{
		"one in each zone": {},
		"one too many": {patch: `spec: {replicas: 4}`,
			want: "spec.replicas: Invalid value: 4: must be at most 3, the number of placement.zones (3) times placement.maxPerZone (1): " +
				"set placement.maxPerZone to 2, or lower the number"},
		"two in each zone": {patch: `spec: {replicas: 6, placement: {maxPerZone: 2}}`},
		"seven in three zones": {patch: `spec: {replicas: 7, placement: {maxPerZone: 2, mode: Strict}}`,
			want: "spec.replicas: Invalid value: 7: must be at most 6, the number of placement.zones (3) times placement.maxPerZone (2): " +
				"set placement.maxPerZone to 3, or lower the number"},
		"all in one zone": {patch: `spec: {replicas: 100, placement: {zones: [a], maxPerZone: 100}}`},
		"Deployment": {kind: v1alpha1.KindBucketFleet, patch: `spec: {replicas: 5, placement: {zones: [a, b]}, workload: Deployment}`,
			want: "spec.replicas: Invalid value: 5: must be at most 2, the number of placement.zones (2) times placement.maxPerZone (1): " +
				"set placement.maxPerZone to 3, or lower the number"},

		"Relaxed has no cap":             {patch: `spec: {replicas: 100, placement: {mode: Relaxed}}`},
		"ordinals have their zones":      {kind: v1alpha1.KindBucketFleet, patch: `spec: {replicas: 100, workload: Ordered}`},
		"no replicas, which is an error": {patch: `spec: {replicas: null}`},
		"more than any fleet may have":   {patch: `spec: {replicas: 101}`},
		"no zones, which is an error":    {patch: `spec: {placement: {zones: []}}`},
		"a cap that is an error":         {patch: `spec: {placement: {maxPerZone: -1}}`},
	} {
		for _, kind := range (celCase{kind: c.kind}).kinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				f := typed(t, kind, c.patch)
				for range 2 { // as written, then with defaults
					if errs := v1alpha1.ValidateCap(f); c.want == "" {
						require.Empty(t, errs)
					} else {
						require.EqualError(t, errs.ToAggregate(), c.want)
						require.Empty(t, f.Validate(), "the healer goes on with such a fleet")
					}
					f.Default()
				}
			})
		}
	}
}

func TestValidateCapIsTotal(t *testing.T) {
	for _, kind := range kinds {
		require.Empty(t, v1alpha1.ValidateCap(newFleet(kind)))
	}
}

func TestZoneCap(t *testing.T) {
	for name, c := range map[string]struct {
		kind, patch string
		perZone     int
		capped      bool
	}{
		"default":                  {patch: `{}`, perZone: 1, capped: true},
		"written":                  {patch: `spec: {placement: {mode: Strict, maxPerZone: 4}}`, perZone: 4, capped: true},
		"Relaxed":                  {patch: `spec: {placement: {mode: Relaxed}}`},
		"Ordered":                  {kind: v1alpha1.KindBucketFleet, patch: `spec: {workload: Ordered}`},
		"Ordered with one, Strict": {kind: v1alpha1.KindBucketFleet, patch: `spec: {workload: Ordered, placement: {maxPerZone: 4}}`},
	} {
		for _, kind := range (celCase{kind: c.kind}).kinds() {
			perZone, capped := v1alpha1.ZoneCap(typed(t, kind, c.patch))
			require.Equal(t, c.perZone, perZone, name)
			require.Equal(t, c.capped, capped, name)
		}
	}
}
