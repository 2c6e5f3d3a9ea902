// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
)

// This test is a program that Go built, too.
func TestDescribesAProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	var first, second bytes.Buffer
	require.NoError(t, run([]string{"v1.2.3+more", self}, &first))
	require.NoError(t, run([]string{"v1.2.3+more", self}, &second))
	require.Equal(t, first.String(), second.String())

	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, "2023-11-14T22:13:20Z", bom.Metadata.Timestamp)
	require.Equal(t, "pkg:golang/github.com/fleetwright/fleetwright@v1.2.3%2Bmore", bom.Metadata.Component.PackageURL)
	refs, names := map[string]bool{}, map[string]bool{}
	for _, component := range *bom.Components {
		require.False(t, refs[component.BOMRef], component.BOMRef)
		refs[component.BOMRef], names[component.Name] = true, true
	}
	require.True(t, names["stdlib"] && names["github.com/CycloneDX/cyclonedx-go"], names)
	require.Len(t, *bom.Dependencies, 1)
	for _, ref := range *(*bom.Dependencies)[0].Dependencies {
		require.True(t, refs[ref], ref)
	}
}

func TestNeedsPrograms(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run([]string{"v1"}, &out), "usage")
	require.ErrorContains(t, run([]string{"v1", "main.go"}, &out), "main.go")
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	require.ErrorContains(t, run([]string{"v1", "main.go"}, &out), "SOURCE_DATE_EPOCH")
	require.Empty(t, out.String())
}
