// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// TestSpecDigestVectors holds digests to what another program made of the defaulted specs, written out by hand: SHA-256 of
// JSON with sorted keys and no white space. A healer waits for a sync tool that applies what another version rendered, so
// these must not change.
func TestSpecDigestVectors(t *testing.T) {
	require.Equal(t, "v1:5a4692ba7800636e9cec94546aad6c5605433aeb15d2dd9dccf15b74e1676055", render.SpecDigest(fleet(t, persistent)))
	require.Equal(t, "v1:699995f7898df59f34c8812e43e7714196d51f59ed5f668e08575424191c01f5", render.SpecDigest(fleet(t, bucket)))
}

// TestDigestMatches takes annotations of every version of the command: the earlier form is the sum alone.
func TestDigestMatches(t *testing.T) {
	const sum = "5a4692ba7800636e9cec94546aad6c5605433aeb15d2dd9dccf15b74e1676055"
	another := strings.Repeat("0", len(sum))
	tests := map[string]struct {
		value string
		same  bool
		form  render.DigestForm
	}{
		"current":                         {"v1:" + sum, true, render.DigestCurrent},
		"current, of another spec":        {"v1:" + another, false, render.DigestCurrent},
		"earlier":                         {sum, true, render.DigestEarlier},
		"earlier, of another spec":        {another, false, render.DigestEarlier},
		"newer":                           {"v2:" + sum, false, render.DigestNewer},
		"newer, and not a sum":            {"v10:blake3 x", false, render.DigestNewer},
		"missing":                         {"", false, render.DigestMalformed},
		"cut":                             {"v1:" + sum[1:], false, render.DigestMalformed},
		"of an earlier form, cut":         {sum[1:], false, render.DigestMalformed},
		"with more behind it":             {"v1:" + sum + " ", false, render.DigestMalformed},
		"in upper case":                   {"v1:" + strings.ToUpper(sum), false, render.DigestMalformed},
		"of no version":                   {"v0:" + sum, false, render.DigestMalformed},
		"of a negative version":           {"v-2:" + sum, false, render.DigestMalformed},
		"of a version without its letter": {"2:" + sum, false, render.DigestMalformed},
		"of an empty version":             {":" + sum, false, render.DigestMalformed},
		"written by hand":                 {"latest", false, render.DigestMalformed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := fleet(t, persistent)
			same, form := render.DigestMatches(f, tc.value)
			require.Equal(t, tc.same, same)
			require.Equal(t, tc.form, form)
			require.Equal(t, fleet(t, persistent), f, "the fleet was changed")
		})
	}
	capped := fleet(t, persistent, `spec: {placement: {maxPerZone: 2}}`)
	same, form := render.DigestMatches(capped, sum)
	require.False(t, same, "the versions that made this digest knew no maxPerZone, and would have spread the members otherwise")
	require.Equal(t, render.DigestEarlier, form)
	same, _ = render.DigestMatches(capped, render.SpecDigest(capped))
	require.True(t, same)
}

// TestSpecDigestStays lists changes that no template needs, and other ways to say the same.
func TestSpecDigestStays(t *testing.T) {
	tests := map[string]string{
		"replicas":               `spec: {replicas: 7}`,
		"capacity":               `spec: {capacity: {mode: Manual}}`,
		"routing":                `spec: {routing: {hostnames: [a.example.com], gateway: {name: a}, source: {namespace: a, podLabels: {a: b}}}}`,
		"paused":                 `spec: {maintenance: {paused: true}}`,
		"stopped":                `spec: {maintenance: {stopped: true, restartToken: ""}}`,
		"metadata":               `metadata: {labels: {a: b}, annotations: {celld.eric.dev/protect: "true"}, generation: 4}`,
		"status":                 `status: {phase: Ready}`,
		"bare bucket name":       `spec: {storage: {bucket: my-bucket}}`,
		"defaults written out":   `spec: {storage: {size: 10Gi}, placement: {mode: Strict}, network: {credentials: EKS, dns: {namespace: kube-system}}}`,
		"quantities":             `spec: {storage: {size: 10240Mi}, resources: {requests: {cpu: 0.250, memory: 0.5Gi}, limits: {memory: 1024Mi}}}`,
		"the default of the cap": `spec: {placement: {maxPerZone: 1}}`,
		"lifecycle":              `spec: {lifecycle: {shutdownSeconds: 20}}`,
		"empty objects":          `spec: {podMetadata: {labels: {}}, cells: {}, telemetry: {}, maintenance: {}, resources: {limits: {}}}`,
		"empty lists and texts":  `spec: {env: [], imagePullSecrets: [], identity: "", placement: {tolerations: [], priorityClassName: ""}}`,
	}
	for name, patch := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, render.SpecDigest(fleet(t, persistent)), render.SpecDigest(fleet(t, persistent, patch)))
			require.Equal(t, render.SpecDigest(fleet(t, bucket)), render.SpecDigest(fleet(t, bucket, patch)))
		})
	}
}

// TestSpecDigestOfWhatKubectlSends spells quantities as files do and as JSON does after a YAML reader has made numbers of
// them: the healer sees the one, render the other.
func TestSpecDigestOfWhatKubectlSends(t *testing.T) {
	for file, live := range map[string]string{
		"1.500": "1.5", "1e3": "1000", "2E3": "2000", "1e-3": "0.001", "+2": "2", "0.1": "100m", "3.0": "3", "12e6": "12000000",
	} {
		digest := func(text string) string {
			q := resource.MustParse(text)
			f := fleet(t, persistent)
			f.Shared().Resources.Requests = corev1.ResourceList{"cpu": q}
			return render.SpecDigest(f)
		}
		require.Equal(t, digest(live), digest(file), "%s and %s", file, live)
	}
}

// undigested are the fields that do not reach the workload by themselves.
var undigested = regexp.MustCompile(`^/spec/(replicas|capacity/.*|routing/.*|maintenance/(paused|stopped))$`)

// TestSpecDigestCoversEveryField changes and removes each value of a spec that sets every field there is.
func TestSpecDigestCoversEveryField(t *testing.T) {
	kinds := map[string]func() v1alpha1.Fleet{
		"persistentfleet": func() v1alpha1.Fleet { return &v1alpha1.PersistentFleet{} },
		"bucketfleet":     func() v1alpha1.Fleet { return &v1alpha1.BucketFleet{} },
	}
	for kind, empty := range kinds {
		t.Run(kind, func(t *testing.T) {
			text, err := os.ReadFile("testdata/digest/" + kind + ".yaml")
			require.NoError(t, err)
			decode := func(text []byte) (v1alpha1.Fleet, error) {
				f := empty()
				return f, yaml.UnmarshalStrict(text, f)
			}
			full, err := decode(text)
			require.NoError(t, err)
			var spec any
			require.NoError(t, yaml.Unmarshal(text, &spec))
			requireEveryField(t, reflect.ValueOf(full).Elem().FieldByName("Spec").Type(), spec.(map[string]any)["spec"], "/spec")

			before := render.SpecDigest(full)
			eachLeaf(spec, "", func(path string, old any, set func(any), remove func()) {
				if !strings.HasPrefix(path, "/spec/") {
					return
				}
				for name, change := range map[string]func(){"changed": func() { set(other(old)) }, "removed": remove} {
					change()
					text, err := json.Marshal(spec)
					require.NoError(t, err)
					f, err := decode(text)
					if err != nil { // a quantity takes no other text
						set("7")
						text, _ = json.Marshal(spec)
						f, err = decode(text)
					}
					require.NoError(t, err, path)
					require.Equal(t, undigested.MatchString(path), render.SpecDigest(f) == before, "%s %s", path, name)
					set(old)
				}
			})
		})
	}
}

func other(v any) any {
	switch x := v.(type) {
	case string:
		return x + "x"
	case float64:
		return x + 1
	default:
		return v != true
	}
}

// eachLeaf visits every value that is neither an object nor a list.
func eachLeaf(v any, path string, visit func(path string, old any, set func(any), remove func())) {
	switch x := v.(type) {
	case map[string]any:
		for k, child := range x {
			if at := path + "/" + k; leaf(child) {
				visit(at, child, func(v any) { x[k] = v }, func() { delete(x, k) })
			} else {
				eachLeaf(child, at, visit)
			}
		}
	case []any:
		for i, child := range x {
			if at := path + "/" + strconv.Itoa(i); leaf(child) {
				visit(at, child, func(v any) { x[i] = v }, func() { x[i] = "" })
			} else {
				eachLeaf(child, at, visit)
			}
		}
	}
}

func leaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

// requireEveryField checks that a value sets every field that its type has.
func requireEveryField(t testing.TB, typ reflect.Type, v any, path string) {
	t.Helper()
	require.NotNil(t, v, "%s is not in the file: add it", path)
	switch {
	case typ == reflect.TypeFor[resource.Quantity]() || typ == reflect.TypeFor[intstr.IntOrString]():
	case typ.Kind() == reflect.Pointer:
		requireEveryField(t, typ.Elem(), v, path)
	case typ.Kind() == reflect.Slice:
		require.NotEmpty(t, v, path)
		requireEveryField(t, typ.Elem(), v.([]any)[0], path+"/0")
	case typ.Kind() == reflect.Map:
		require.NotEmpty(t, v, path)
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			name, inline, _, ok := tree.JSONField(typ.Field(i))
			switch {
			case ok && inline:
				requireEveryField(t, typ.Field(i).Type, v, path)
			case ok:
				requireEveryField(t, typ.Field(i).Type, v.(map[string]any)[name], path+"/"+name)
			}
		}
	}
}
