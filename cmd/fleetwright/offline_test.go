// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the types of built-in plugins are nowhere else
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// TestRenderingOpensNoConnectionAndRunsNoProgram writes a remote place at every key that a kustomization, or the configuration of
// a built-in plugin, can have, each key spelt in three ways.
func TestRenderingOpensNoConnectionAndRunsNoProgram(t *testing.T) {
	w := watch(t)
	for _, keys := range keysOf(reflect.TypeFor[types.Kustomization](), nil) {
		for _, spelt := range spellings(keys) {
			for _, place := range w.places() {
				k := map[string]any{"resources": []any{"fleet.yaml"}}
				maps.Copy(k, nested(spelt, place).(map[string]any))
				w.render(t, strings.Join(spelt, "."), k)
			}
		}
	}
	for kind, plugin := range plugins {
		for _, keys := range keysOf(plugin, nil) {
			for _, spelt := range spellings(keys) {
				for _, place := range w.places() {
					config := map[string]any{"apiVersion": "builtin", "kind": kind, "metadata": map[string]any{"name": "a"}}
					maps.Copy(config, nested(spelt, place).(map[string]any))
					field := "transformers"
					if strings.HasSuffix(kind, "Generator") {
						field = "generators"
					}
					w.render(t, kind+"."+strings.Join(spelt, "."), map[string]any{"resources": []any{"fleet.yaml"}, field: []any{string(text(t, config))}})
				}
			}
		}
	}
}

// plugins are those whose configuration is read from files.
var plugins = map[string]reflect.Type{
	"AnnotationsTransformer":         reflect.TypeFor[builtins.AnnotationsTransformerPlugin](),
	"ConfigMapGenerator":             reflect.TypeFor[builtins.ConfigMapGeneratorPlugin](),
	"HelmChartInflationGenerator":    reflect.TypeFor[builtins.HelmChartInflationGeneratorPlugin](),
	"PatchJson6902Transformer":       reflect.TypeFor[builtins.PatchJson6902TransformerPlugin](),
	"PatchStrategicMergeTransformer": reflect.TypeFor[builtins.PatchStrategicMergeTransformerPlugin](),
	"PatchTransformer":               reflect.TypeFor[builtins.PatchTransformerPlugin](),
	"ReplacementTransformer":         reflect.TypeFor[builtins.ReplacementTransformerPlugin](),
	"SecretGenerator":                reflect.TypeFor[builtins.SecretGeneratorPlugin](),
	"ValueAddTransformer":            reflect.TypeFor[builtins.ValueAddTransformerPlugin](),
}

// A watcher counts who calls: connections to it, and programs of the names that rendering could want.
type watcher struct {
	dir         string
	address     string
	connections atomic.Int64
}

func watch(t *testing.T) *watcher {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	w := &watcher{dir: t.TempDir(), address: listener.Addr().String()}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			w.connections.Add(1)
			_ = c.Close()
		}
	}()
	bin := t.TempDir()
	for _, program := range []string{"git", "helm", "go", "docker", "sh", "bash"} {
		script := "#!/bin/sh\necho " + program + " \"$@\" >>" + filepath.Join(w.dir, "ran") + "\nexit 1\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700))
	}
	t.Setenv("PATH", bin)
	fleet, err := os.ReadFile(filepath.Join("testdata", "fleet.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "fleet.yaml"), fleet, 0o600))
	return w
}

func (w *watcher) places() []string {
	return []string{"http://" + w.address + "/a", "a=http://" + w.address + "/a", "file://" + w.dir + "/a.git", "git@" + w.address + ":a/b"}
}

// render renders a kustomization, which may fail, and fails the test if anybody was called.
func (w *watcher) render(t *testing.T, name string, kustomization any) string {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "kustomization.yaml"), text(t, kustomization), 0o600))
	var stdout, stderr bytes.Buffer
	code := run([]string{"fleetwright", "render", w.dir}, streams{in: strings.NewReader(""), out: &stdout, err: &stderr}, func(string) string { return "" })
	require.Contains(t, []int{0, exitInput}, code, "%s: %s", name, stderr.String())
	ran, err := os.ReadFile(filepath.Join(w.dir, "ran"))
	if err == nil {
		require.NoError(t, os.Remove(filepath.Join(w.dir, "ran")))
	}
	if n := w.connections.Swap(0); n > 0 || len(ran) > 0 {
		t.Errorf("%s: %d connections, programs: %s", name, n, ran)
	}
	return stderr.String()
}

// keysOf lists the keys that lead to each text in a type.
func keysOf(t reflect.Type, at []string) [][]string {
	switch t.Kind() {
	case reflect.Pointer:
		return keysOf(t.Elem(), at)
	case reflect.Slice:
		return keysOf(t.Elem(), append(slices.Clone(at), "[]"))
	case reflect.Map:
		return [][]string{append(slices.Clone(at), "path")}
	case reflect.String:
		return [][]string{at}
	case reflect.Struct:
	default:
		return nil
	}
	var keys [][]string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case f.Anonymous && name == "":
			keys = append(keys, keysOf(f.Type, at)...)
		case name == "":
			keys = append(keys, keysOf(f.Type, append(slices.Clone(at), f.Name))...)
		default:
			keys = append(keys, keysOf(f.Type, append(slices.Clone(at), name))...)
		}
	}
	return keys
}

// spellings are the keys as they are, with capital initials and in capitals: the last key, the first one, and all of them.
func spellings(keys []string) [][]string {
	out := [][]string{keys}
	last := len(keys) - 1
	for keys[last] == "[]" {
		last--
	}
	for _, spell := range []func(string) string{func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }, strings.ToUpper} {
		for _, which := range []func(int) bool{
			func(i int) bool { return i == last }, func(i int) bool { return i == 0 }, func(int) bool { return true },
		} {
			spelt := slices.Clone(keys)
			for i := range spelt {
				if which(i) {
					spelt[i] = spell(spelt[i])
				}
			}
			out = append(out, spelt)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

func nested(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		if key == "[]" {
			value = []any{value}
			continue
		}
		object := map[string]any{key: value}
		if !slices.Contains([]string{"name", "Name", "NAME"}, key) {
			object["name"] = "a"
		}
		value = object
	}
	if object := value.(map[string]any); object["name"] == "a" {
		delete(object, "name")
	}
	return value
}

func text(t *testing.T, value any) []byte {
	t.Helper()
	out, err := yaml.Marshal(value)
	require.NoError(t, err, fmt.Sprint(value))
	return out
}
