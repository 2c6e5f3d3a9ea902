// SPDX-License-Identifier: Apache-2.0

package krm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/krm"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// Each directory of testdata holds in.yaml, a ResourceList, and want.yaml, what the function makes of it.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/in.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, in := range dirs {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := run(t, read(t, in))
			want := filepath.Join(dir, "want.yaml")
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o600))
			}
			require.Empty(t, cmp.Diff(read(t, want), got))
		})
	}
}

func TestRunningTwiceChangesNothing(t *testing.T) {
	once := run(t, read(t, "testdata/transformer/in.yaml"))
	require.Empty(t, cmp.Diff(once, run(t, once)))
}

// What a fleet no longer renders to goes away, and only that.
func TestStaleObjectsGo(t *testing.T) {
	routed := run(t, read(t, "testdata/routed/in.yaml"))
	require.Contains(t, routed, "name: my-fleet-routing")
	start, end := strings.Index(routed, "    routing:\n"), strings.Index(routed, "    storage:\n")
	require.Less(t, start, end)
	got := run(t, routed[:start]+routed[end:])
	require.NotContains(t, got, "name: my-fleet-routing")
	require.Contains(t, got, "name: somebody-elses-route")
}

// What was rendered from a fleet that is not among the items any more goes away, with a result that says so: a deleted fleet, a renamed
// one, one in another namespace.
func TestObjectsOfAFleetThatIsGoneGo(t *testing.T) {
	rendered := run(t, read(t, "testdata/transformer/in.yaml"))
	for name, change := range map[string]func(string) string{
		"deleted": func(list string) string {
			start, end := strings.Index(list, "- apiVersion: celld.eric.dev/v1alpha1\n"), strings.Index(list, "- apiVersion: apps/v1\n")
			require.Less(t, start, end)
			return list[:start] + list[end:]
		},
		"renamed": func(list string) string { return strings.Replace(list, "name: my-fleet\n", "name: other\n", 1) },
		"moved": func(list string) string {
			return strings.Replace(list, "namespace: fleets\n", "namespace: others\n", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			problems, warnings, err := krm.Run(strings.NewReader(change(rendered)), &out)
			require.NoError(t, err)
			require.Empty(t, problems)
			require.Len(t, warnings, 1)
			require.Equal(t, "removed, with 4 other objects: rendered from the fleet fleets/my-fleet, which is not among the items", warnings[0].Message)
			require.Contains(t, out.String(), "- message: \"removed, with 4 other objects: ")
			require.NotContains(t, out.String(), "celld.eric.dev/fleet: my-fleet\n      celld.eric.dev/fleet-uid: 4993c22d-076b-51bb-aca4-3d6f3c1bec6a")
			require.Contains(t, out.String(), "name: before # stays")
			require.Equal(t, name != "deleted", strings.Contains(out.String(), "kind: StatefulSet"))
		})
	}

	// A generator sees no fleet but its own; objects of others are not its affair.
	another := strings.NewReplacer("name: &name my-fleet", "name: another", "example.com/owner: *name", "a: b", "bucket: my-bucket", "bucket: another", "*fleet", "").
		Replace(read(t, "testdata/generator/in.yaml"))
	_, fleet, _ := strings.Cut(another, "- &fleet\n")
	fleet, _, _ = strings.Cut(fleet, "functionConfig:")
	before, _, _ := strings.Cut(rendered, "functionConfig:")
	got := run(t, before+"functionConfig:\n"+fleet)
	require.Contains(t, got, "name: my-fleet-peers")
	require.Contains(t, got, "name: another-peers")
}

// A list in JSON comes back in JSON, with the same objects as one in YAML; strings that look like other values stay strings.
func TestJSONComesBackAsJSON(t *testing.T) {
	asYAML := read(t, "testdata/transformer/in.yaml")
	asJSON, err := yaml.YAMLToJSON([]byte(asYAML))
	require.NoError(t, err)
	got := run(t, string(asJSON))
	require.True(t, json.Valid([]byte(got)), got)
	want, err := yaml.YAMLToJSON([]byte(run(t, asYAML)))
	require.NoError(t, err)
	require.JSONEq(t, string(want), got)
	require.Equal(t, got, run(t, got))

	var out bytes.Buffer
	problems, _, err := krm.Run(strings.NewReader(strings.Replace(string(asJSON), `"replicas":3`, `"replicas":0`, 1)), &out)
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	require.True(t, json.Valid(out.Bytes()))
	odd := `{"kind":"ResourceList","items":[{"apiVersion":"v1","kind":"A","a":"yes\u2028\n\"","b":"1e3","c":1e3,"d":null,"e":[true,-0.5,{}],"":"~"}]}`
	require.JSONEq(t, odd, run(t, odd))
}

// Problems leave the items as they were and stand in the results.
func TestProblemsAreResults(t *testing.T) {
	in := strings.Replace(read(t, "testdata/transformer/in.yaml"), "replicas: 3", "replicas: 0", 1)
	var out bytes.Buffer
	problems, _, err := krm.Run(strings.NewReader(in), &out)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, "fleets/my-fleet.yaml: PersistentFleet fleets/my-fleet: spec.replicas: Invalid value: 0: must be from 1 to 100",
		problems[0].String())
	require.NotContains(t, out.String(), "kind: StatefulSet")
	require.Contains(t, out.String(), `results:
- message: "Invalid value: 0: must be from 1 to 100"
  severity: error
  resourceRef:
    apiVersion: celld.eric.dev/v1alpha1
    kind: PersistentFleet
    name: my-fleet
    namespace: fleets
  field:
    path: spec.replicas
  file:
    path: fleets/my-fleet.yaml
`)
}

func TestBadLists(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"empty":       {"", "stdin: must be a ResourceList"},
		"no yaml":     {"a: [", "stdin: is not YAML"},
		"another":     {"kind: List\napiVersion: v1\n", "stdin: must be a ResourceList"},
		"scalar":      {"text", "stdin: must be a ResourceList"},
		"items":       {"kind: ResourceList\nitems: 3\n", "stdin: items must be a list"},
		"scalar item": {"kind: ResourceList\nitems:\n- 3\n", "stdin: line 3: an item must be an object"},
		"config kind": {"kind: ResourceList\nfunctionConfig: {apiVersion: v1, kind: Secret}\n", "stdin: functionConfig: is a Secret of v1"},
		"config data": {"kind: ResourceList\nfunctionConfig: {apiVersion: v1, kind: ConfigMap, data: {namespaces: x}}\n",
			"stdin: functionConfig: data.namespaces is unknown; known here: healerNamespace, namespace"},
		"config twice": {"kind: ResourceList\nfunctionConfig: {apiVersion: v1, kind: ConfigMap, data: {namespace: x, namespace: y}}\n",
			"stdin: functionConfig: data.namespace is given twice: keep one of them"},
		"cyclic alias":      {"kind: ResourceList\nitems: &a [*a]\n", "stdin: holds an alias that contains itself"},
		"item without kind": {"kind: ResourceList\nitems:\n- metadata: {name: x}\n", "stdin:3:3: is no Kubernetes object"},
		"repeated key": {"kind: ResourceList\nitems:\n- {apiVersion: v1, kind: A, kind: B}\n",
			"stdin:3:29: kind: is set already at line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			problems, _, err := krm.Run(strings.NewReader(tc.in), &bytes.Buffer{})
			require.NoError(t, err)
			require.Len(t, problems, 1)
			require.Contains(t, problems[0].String(), tc.want)
		})
	}
}

// A reservation is of the same group as fleets, and renders to nothing.
func TestReservationGeneratesNothing(t *testing.T) {
	in := "kind: ResourceList\nfunctionConfig: {apiVersion: celld.eric.dev/v1alpha1, kind: StorageReservation, metadata: {name: a}}\n"
	require.Contains(t, run(t, in), "items: []")
}

func TestNullAndMissingItemsAreEmpty(t *testing.T) {
	for _, in := range []string{"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n", "kind: ResourceList\nitems: null\n"} {
		require.Contains(t, run(t, in), "items: []")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }
func (failing) Read([]byte) (int, error)  { return 0, errors.New("the pipe is closed") }

func TestStreamErrors(t *testing.T) {
	_, _, err := krm.Run(failing{}, &bytes.Buffer{})
	require.ErrorContains(t, err, "the pipe is closed")
	_, _, err = krm.Run(strings.NewReader("kind: ResourceList\n"), failing{})
	require.ErrorContains(t, err, "the pipe is closed")
}

func FuzzRun(f *testing.F) {
	for _, name := range []string{"transformer", "generator", "routed"} {
		f.Add([]byte(read(f, filepath.Join("testdata", name, "in.yaml"))))
	}
	f.Add([]byte("kind: ResourceList\nitems: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		problems, _, err := krm.Run(bytes.NewReader(in), &out)
		require.NoError(t, err)
		if len(problems) > 0 || out.Len() == 0 {
			return
		}
		again, _, err := krm.Run(bytes.NewReader(out.Bytes()), &bytes.Buffer{})
		require.NoError(t, err)
		require.Empty(t, again, "the output of a good run is good input")
	})
}

func run(tb testing.TB, in string) string {
	tb.Helper()
	var out bytes.Buffer
	problems, _, err := krm.Run(strings.NewReader(in), &out)
	require.NoError(tb, err)
	require.Empty(tb, problems)
	return out.String()
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	text, err := os.ReadFile(path)
	require.NoError(tb, err)
	return string(text)
}
