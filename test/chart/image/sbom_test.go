// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// requireListed holds that a file is CycloneDX, by its schema, and lists programs and what is linked into them.
func requireListed(t *testing.T, name string, programs []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var document any
	require.NoError(t, json.Unmarshal(text, &document))
	require.NoError(t, schema(t).Validate(document))

	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, version, bom.Metadata.Component.Version)
	names := map[string]string{}
	settings := map[string]string{}
	for _, component := range *bom.Components {
		names[component.Name] = component.BOMRef
		if component.Properties != nil {
			for _, property := range *component.Properties {
				settings[component.Name+" "+property.Name] = property.Value
			}
		}
	}
	needs := map[string][]string{}
	for _, dependency := range *bom.Dependencies {
		needs[dependency.Ref] = *dependency.Dependencies
	}
	for _, program := range programs {
		require.Contains(t, needs[names[program]], names["stdlib"])
		require.Contains(t, needs[names[program]], names["k8s.io/api"])
		require.Equal(t, "0", settings[program+" go:build:CGO_ENABLED"])
	}
	require.Contains(t, needs[names["fleetwright-webhook"]], names["github.com/open-policy-agent/cert-controller"])
	require.NotContains(t, needs[names["fleetwright"]], names["sigs.k8s.io/controller-runtime"])
}

// schema is that of CycloneDX 1.6, which its library brings along.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	for url, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		require.NoError(t, err)
		parsed, err := jsonschema.UnmarshalJSON(text)
		require.NoError(t, err)
		require.NoError(t, text.Close())
		require.NoError(t, compiler.AddResource(url, parsed))
	}
	compiled, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	return compiled
}
