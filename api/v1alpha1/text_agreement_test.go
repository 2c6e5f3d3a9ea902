// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	reading "github.com/fleetwright/fleetwright/render/source"
	"github.com/fleetwright/fleetwright/test/crdcheck"
)

// What the command reads from a file, the API server takes, as it stands there and as the command prints it. What the API server and
// the webhook take, the command reads, but for spellings of a value that YAML readers disagree on.
func TestCommandAgreesWithCRD(t *testing.T) {
	forEachKind(t, 1000, func(t *rapid.T, g *generator, check *crdcheck.Checker) {
		text := g.text(t)
		served := serverSays(text, check)
		if served == nil {
			served = webhookSays(text, g.kind)
		}
		set, err := reading.Read([]string{"-"}, reading.Options{Stdin: strings.NewReader(text), AboveCap: true})
		var problems reading.Problems
		switch {
		case err == nil:
			require.NoError(t, served, "the command reads what the API server refuses:\n%s", text)
			require.NoError(t, serverSays(string(set.Documents[0].Text), check), "the command prints what the API server refuses:\n%s", set.Documents[0].Text)
		case !errors.As(err, &problems):
			require.NoError(t, err)
		case !slices.ContainsFunc(problems, func(p reading.Problem) bool { return strings.Contains(p.Message, "YAML reader") }):
			require.Error(t, served, "the command refuses what the API server takes: %v\n%s", err, text)
		}
	})
}

// serverSays is what the API server says to YAML that kubectl, or another client of Kubernetes, sends it.
func serverSays(text string, check *crdcheck.Checker) error {
	asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	obj := map[string]any{}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(asJSON, &obj); err != nil {
		return err
	}
	if unknown := check.Unknown(obj); len(unknown) > 0 {
		return fmt.Errorf("unknown fields: %v", unknown)
	}
	return check.Create(obj).ToAggregate()
}

// webhookSays is what the webhook says to what the API server takes.
func webhookSays(text, kind string) error {
	f := newFleet(kind)
	if err := yaml.Unmarshal([]byte(text), f); err != nil {
		return err
	}
	return f.Validate().ToAggregate()
}

// text draws a fleet as YAML, in which some numbers and quantities are spelt in another way, or are others.
func (g *generator) text(t *rapid.T) string {
	obj := g.base
	spelt := map[string]string{}
	for range rapid.IntRange(1, 3).Draw(t, "spellings") {
		path := rapid.SampledFrom(g.numeric()).Draw(t, "path")
		mark := "@" + strconv.Itoa(len(spelt)) + "@"
		spelt[mark] = rapid.SampledFrom(g.spellings(path)).Draw(t, path)
		obj = put(obj, strings.Split(path, "."), mark)
	}
	out, err := yaml.Marshal(obj)
	require.NoError(t, err)
	text := string(out)
	for mark, value := range spelt {
		text = strings.ReplaceAll(text, "'"+mark+"'", value)
	}
	return text
}

// numeric lists the fields of numbers and quantities outside of lists.
func (g *generator) numeric() (paths []string) {
	for _, path := range g.paths {
		if s := g.at[path]; (s.Type == "integer" || s.XIntOrString) && !strings.ContainsAny(path, "[{") {
			paths = append(paths, path)
		}
	}
	for _, list := range []string{"limits", "requests"} {
		for _, name := range []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi"} {
			paths = append(paths, "spec.resources."+list+"."+name)
		}
	}
	return paths
}

// spellings are what may stand in a field: of whole numbers, those around its bounds as well.
func (g *generator) spellings(path string) []string {
	s := g.at[path]
	if s == nil || s.XIntOrString {
		return quantityTexts
	}
	texts := numberTexts
	if v := s.ValueValidation; v != nil && v.Minimum != nil && v.Maximum != nil {
		for _, limit := range []float64{*v.Minimum, *v.Maximum} {
			for _, n := range []float64{limit - 1, limit, limit + 1} {
				texts = append(slices.Clone(texts), fmt.Sprintf("%.0f", n), fmt.Sprintf("%.1f", n), fmt.Sprintf("%e", n), fmt.Sprintf("'%.0f'", n))
			}
		}
	}
	return texts
}

// put returns a copy of an object with a value at a path.
func put(obj map[string]any, path []string, value any) map[string]any {
	if len(path) > 1 {
		below, _ := obj[path[0]].(map[string]any)
		value = put(below, path[1:], value)
	}
	return merge(obj, map[string]any{path[0]: value})
}

var (
	numberTexts = []string{"1", "3", "100", "101", "0", "-1", "-0", "+3", "3.0", "3.", "3.5", "3e0", "3E+0", "30e-1", "1e3", "0x3", "0o3", "03", "0b11",
		"1_0", "2147483648", "9223372036854775808", "1e400", "'3'", "\"3\"", "!!str 3", "three", "true", "''", "[]", "{}", "1000000", "1000001",
		"1e6", "1e+06", "8.64e+04", "1.000001e+06", "86400", "86401", ".inf", ".nan", "3s"}

	quantityTexts = []string{"1", "0", "-1", "-0", "+1", "0.5", ".5", "5.", "1.5", "2.0", "1e3", "1E3", "1e+3", "1.073741824e+09", "1e+22", "1.5e9", "2.5e1", "1e-3", "1e21", "1e400", "'0.5'", "'.5'",
		"'5.'", "'1e3'", "'1E-1'", "500m", "1m", "3500m", "68719476736000m", "1n", "1u", "1k", "1Ki", "1K", "1ki", "100M", "64Mi", "63Mi", "65535Ki", "65536Ki",
		"67108864", "67108863", "'67108864'", "67108864.0", "6.7108864e7", "67108864000m", "67108864500m", "1023Mi", "1Gi", "1.5Gi", "0.1Gi", "0.0001Gi", "1.0001Gi",
		"64Ti", "65Ti", "65536Gi", "65537Gi", "64.5Ti", "1Pi", "1Ei", "8Ei", "9E", "10E", "9223372036854775807", "9223372036854775808", "9007199254740993",
		"9.007199254740993e15", "123456789012345678901", "'12345678901234567890'", "0x10", "0o17", "017", "1_000", "12:30", "10%", "10 Gi", "''", "true", "[]", "0xGi", "2Mi", "3Mi"}
)
