// SPDX-License-Identifier: Apache-2.0

// Command sbom prints what is in programs that Go built, as CycloneDX that
// scanners read:
//
//	sbom VERSION PROGRAM [PROGRAM ...] >sbom.cdx.json
//
// The programs themselves say it. The same programs make the same bytes; the
// date is $SOURCE_DATE_EPOCH.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("usage: sbom VERSION PROGRAM [PROGRAM ...]")
	}
	epoch, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), "0"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	bom, err := describe(args[0], time.Unix(epoch, 0), args[1:])
	if err != nil {
		return err
	}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
}

// describe makes a document of programs of one module: each depends on what is
// linked into it.
func describe(version string, at time.Time, programs []string) (*cdx.BOM, error) {
	modules := map[string]cdx.Component{}
	var applications []cdx.Component
	var dependencies []cdx.Dependency
	bom := cdx.NewBOM()
	for _, path := range programs {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		application, err := program(path, version, info)
		if err != nil {
			return nil, err
		}
		var needs []string
		for _, module := range append([]*debug.Module{standard(info)}, info.Deps...) {
			if module.Replace != nil {
				module = module.Replace
			}
			component, err := library(module)
			if err != nil {
				return nil, err
			}
			modules[component.BOMRef] = component
			needs = append(needs, component.BOMRef)
		}
		slices.Sort(needs)
		applications = append(applications, application)
		dependencies = append(dependencies, cdx.Dependency{Ref: application.BOMRef, Dependencies: &needs})
		main := purl(info.Main.Path, version)
		bom.Metadata = &cdx.Metadata{
			Timestamp: at.UTC().Format(time.RFC3339),
			Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: main, Name: info.Main.Path, Version: version, PackageURL: main},
		}
	}
	components := applications
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		components = append(components, modules[ref])
	}
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom, nil
}

func program(path, version string, info *debug.BuildInfo) (cdx.Component, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return cdx.Component{}, err
	}
	sum := sha256.Sum256(content)
	name := filepath.Base(path)
	properties := []cdx.Property{{Name: "go:version", Value: info.GoVersion}}
	for _, setting := range info.Settings {
		properties = append(properties, cdx.Property{Name: "go:build:" + setting.Key, Value: setting.Value})
	}
	return cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: name, Version: version,
		BOMRef:     purl(info.Main.Path, version) + "#" + strings.TrimPrefix(info.Path, info.Main.Path+"/"),
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &properties,
	}, nil
}

// standard is the standard library, by the name that vulnerabilities have it by.
func standard(info *debug.BuildInfo) *debug.Module {
	return &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
}

// library describes a module. Its hash is that of go.sum.
func library(module *debug.Module) (cdx.Component, error) {
	ref := purl(module.Path, module.Version)
	component := cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: ref, Name: module.Path, Version: module.Version, PackageURL: ref,
	}
	if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
		raw, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return component, fmt.Errorf("the sum of %s: %w", module.Path, err)
		}
		component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return component, nil
}

// purl is the package URL of a module: versions may hold a plus sign.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
