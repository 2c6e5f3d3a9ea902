// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A generator draws fleets of one kind from the schema of its definition, so that a new field is tested as soon as it is
// there: a valid fleet, with parts of it replaced by values that are right, wrong or at a limit.
type generator struct {
	kind  string
	base  map[string]any
	parts []map[string]any // what may be added to the valid fleet and keeps it valid
	paths []string         // every field of the spec and of the metadata that users write
	at    map[string]*schema.Structural

	editor *jsonschema.Schema // what editors check by
}

func newGenerator(t testing.TB, kind string) *generator {
	t.Helper()
	editor, err := jsonschema.NewCompiler().Compile("../../config/schema/" + strings.ToLower(kind) + ".json")
	require.NoError(t, err)
	g := &generator{kind: kind, base: object(t, kind), at: map[string]*schema.Structural{}, editor: editor}
	for _, p := range validParts {
		g.parts = append(g.parts, parse(t, p))
	}
	spec := checkers(t)[kind].Schema.Properties["spec"]
	walk("spec", &spec, func(path string, s *schema.Structural) { g.add(path, s) })
	labels := &schema.Structural{Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{
		Structural: &schema.Structural{Generic: schema.Generic{Type: "string"}}}}
	for _, name := range []string{"name", "namespace"} {
		g.add("metadata."+name, &schema.Structural{Generic: schema.Generic{Type: "string"}})
	}
	g.add("metadata.labels", labels)
	g.add("metadata.annotations", labels)
	return g
}

func (g *generator) add(path string, s *schema.Structural) {
	g.at[path] = s
	if path != "spec" && !strings.HasSuffix(path, "{}") {
		g.paths = append(g.paths, path)
	}
}

// fleet draws a fleet with at most changes fields replaced, each of which is under one of the prefixes. A client fills in
// the namespace if there is none.
func (g *generator) fleet(t *rapid.T, changes int, prefixes ...string) map[string]any {
	obj := g.change(t, g.valid(t), changes, prefixes...)
	if meta, _ := obj["metadata"].(map[string]any); meta["namespace"] == nil || meta["namespace"] == "" {
		obj = merge(obj, map[string]any{"metadata": map[string]any{"namespace": "fleets"}})
	}
	return obj
}

func (g *generator) valid(t *rapid.T) map[string]any {
	obj := g.base
	for i, p := range g.parts {
		if rapid.IntRange(0, 3).Draw(t, fmt.Sprintf("part %d", i)) == 0 {
			obj = merge(obj, p)
		}
	}
	return obj
}

func (g *generator) change(t *rapid.T, obj map[string]any, changes int, prefixes ...string) map[string]any {
	paths := slices.DeleteFunc(slices.Clone(g.paths), func(p string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(p, prefix) })
	})
	for range rapid.IntRange(0, changes).Draw(t, "changes") {
		path := rapid.SampledFrom(paths).Draw(t, "path")
		changed, _ := g.set(t, obj, strings.Split(strings.ReplaceAll(path, "[]", ".[]"), "."), path).(map[string]any)
		obj = changed
	}
	return obj
}

// set returns a copy of node in which the field at the end of steps is drawn anew, or removed.
func (g *generator) set(t *rapid.T, node any, steps []string, path string) any {
	if len(steps) == 0 {
		return g.draw(t, path, g.at[path])
	}
	if steps[0] == "[]" {
		list, _ := node.([]any)
		list = slices.Clone(list)
		i := rapid.IntRange(0, min(len(list), 3)).Draw(t, "index")
		if i == len(list) {
			list = append(list, nil)
		}
		list[i] = g.set(t, list[i], steps[1:], path)
		return list
	}
	object := map[string]any{}
	old, _ := node.(map[string]any)
	maps.Copy(object, old)
	if len(steps) == 1 && rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
		delete(object, steps[0])
	} else {
		object[steps[0]] = g.set(t, object[steps[0]], steps[1:], path)
	}
	return object
}

// draw returns a value of the schema's type, right or wrong.
func (g *generator) draw(t *rapid.T, path string, s *schema.Structural) any {
	switch {
	case s.XIntOrString:
		return rapid.OneOf(rapid.SampledFrom(quantities), rapid.Map(rapid.SampledFrom(numbers), func(n int64) any { return n })).Draw(t, path)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return g.drawMap(t, path, s)
	case s.Type == "object":
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if rapid.IntRange(0, 2).Draw(t, name+"?") > 0 {
				child := s.Properties[name]
				object[name] = g.draw(t, path+"."+name, &child)
			}
		}
		return object
	case s.Type == "array":
		list := []any{}
		for range rapid.SampledFrom([]int{0, 1, 1, 2, 3, 6, 7, 16, 17, 32, 33}).Draw(t, "items of "+path) {
			list = append(list, g.draw(t, path+"[]", s.Items))
		}
		return list
	case s.Type == "integer":
		limits := numbers
		if v := s.ValueValidation; v != nil && v.Minimum != nil && v.Maximum != nil {
			low, high := int64(*v.Minimum), int64(*v.Maximum)
			limits = append(slices.Clone(limits), low-1, low, low+1, high-1, high, high+1, high)
		}
		return rapid.SampledFrom(limits).Draw(t, path)
	case s.Type == "boolean":
		return rapid.Bool().Draw(t, path)
	case s.Type == "string":
		return g.drawString(t, path, s)
	}
	panic(fmt.Sprintf("%s: nothing is known of type %q", path, s.Type))
}

func (g *generator) drawMap(t *rapid.T, path string, s *schema.Structural) any {
	object, keys := map[string]any{}, mapKeys
	if strings.HasPrefix(path, "spec.resources") {
		keys = resourceNames
	}
	n := rapid.SampledFrom([]int{0, 1, 1, 2, 3, 16, 17, 32, 33}).Draw(t, "keys of "+path)
	for i := range n {
		key := fmt.Sprintf("key-%d", i)
		if n <= 3 {
			key = rapid.SampledFrom(keys).Draw(t, "key")
		}
		object[key] = g.draw(t, path+"{}", s.AdditionalProperties.Structural)
	}
	return object
}

func (g *generator) drawString(t *rapid.T, path string, s *schema.Structural) any {
	if v := s.ValueValidation; v != nil && len(v.Enum) > 0 {
		words := []string{"Bogus"}
		for _, e := range v.Enum {
			word, _ := e.Object.(string)
			words = append(words, word)
		}
		return rapid.SampledFrom(words).Draw(t, path)
	}
	pool := anyStrings
	for _, p := range stringPools {
		if p.path.MatchString(path) {
			pool = append(slices.Clone(p.values), pool...)
			if rapid.IntRange(0, 3).Draw(t, "own pool") > 0 {
				pool = p.values
			}
		}
	}
	return rapid.SampledFrom(pool).Draw(t, path)
}

// A stringPool holds values for the fields whose path matches.
type stringPool struct {
	path   *regexp.Regexp
	values []string
}

func pool(path string, values ...string) stringPool {
	return stringPool{regexp.MustCompile(path), values}
}

// immutable lists where fields are that must not change.
var immutable = map[string][]string{
	v1alpha1.KindPersistentFleet: {"spec.storage.bucket", "spec.storage.region", "spec.storage.storageClassName",
		"spec.storage.size", "spec.storage.azureAccount", "spec.storage.store", "spec.identity"},
	v1alpha1.KindBucketFleet: {"spec.storage.bucket", "spec.storage.region", "spec.storage.azureAccount", "spec.storage.store", "spec.identity", "spec.workload"},
}
