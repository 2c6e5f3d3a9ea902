// SPDX-License-Identifier: Apache-2.0

// Command schema derives from the CustomResourceDefinitions what other tools want to know of fleets:
//
//   - schema/persistentfleet.json and schema/bucketfleet.json, JSON Schemas for editors;
//   - kustomize/openapi.json, for kustomize's openapi.path.
//
// It writes them below the directory that is its only argument.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/crd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schema DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	fleets, err := fleetDefinitions()
	if err != nil {
		return err
	}
	for _, def := range fleets {
		name := strings.ToLower(def.Spec.Names.Kind) + ".json"
		if err := write(filepath.Join(dir, "schema", name), editorSchema(def)); err != nil {
			return err
		}
	}
	return write(filepath.Join(dir, "kustomize", "openapi.json"), openAPI(fleets))
}

// fleetDefinitions returns the definitions of what users write: the namespaced ones.
func fleetDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var defs []*apiextensionsv1.CustomResourceDefinition
	for _, f := range files {
		text, err := crd.Files.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		def := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, def); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if def.Spec.Scope == apiextensionsv1.NamespaceScoped {
			defs = append(defs, def)
		}
	}
	return defs, nil
}

// write prints a document with sorted keys, readable, and without the escapes that are for HTML.
func write(path string, document any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
