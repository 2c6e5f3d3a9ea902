// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
)

// refusal is an object that a CEL rule refuses.
type refusal struct {
	Name  string
	Kind  string // empty: both fleets
	Patch string // turns the valid object into the one that is refused
	Old   string // turns it into the one before, for a rule about changes
	Want  string // the path and the message
}

const identity = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"

// valid are the smallest objects of each kind that nobody complains about.
var valid = map[string]string{
	v1alpha1.KindPersistentFleet: validFleet(v1alpha1.KindPersistentFleet, ", storageClassName: ebs-delete"),
	v1alpha1.KindBucketFleet:     validFleet(v1alpha1.KindBucketFleet, ""),
	v1alpha1.KindStorageReservation: `
apiVersion: celld.eric.dev/v1alpha1
kind: StorageReservation
metadata: {name: s3-0123456789abcdef}
spec:
  bucket: s3://my-bucket
  identity: ` + identity + `
  fleet: {kind: PersistentFleet, namespace: fleets, name: my-fleet}
`,
}

func validFleet(kind, storage string) string {
	return `
apiVersion: celld.eric.dev/v1alpha1
kind: ` + kind + `
metadata: {name: my-fleet}
spec:
  replicas: 3
  runtimeImage: registry.test/celld` + digest + `
  serviceAccountName: celld-runtime
  storage: {bucket: "s3://my-bucket", region: us-east-1` + storage + `}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
}

// Every CEL rule refuses, over the wire, what it is for, and says why. What
// cannot be changed is forbidden, by the policy: sync tools delete what is
// Invalid.
func TestRulesRefuse(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	text, err := os.ReadFile("testdata/refusals.yaml")
	require.NoError(t, err)
	var refusals []refusal
	require.NoError(t, yaml.UnmarshalStrict(text, &refusals))

	unheard := messages(t)
	for _, r := range refusals {
		kinds := []string{r.Kind}
		if r.Kind == "" {
			kinds = []string{v1alpha1.KindPersistentFleet, v1alpha1.KindBucketFleet}
		}
		for _, kind := range kinds {
			t.Run(r.Name+"/"+kind, func(t *testing.T) {
				err := refuse(t, c, kind, r)
				if r.Old != "" {
					require.True(t, apierrors.IsForbidden(err), "%v", err)
					require.ErrorContains(t, err, r.Want)
					return
				}
				path, message, _ := strings.Cut(r.Want, ": ")
				require.Contains(t, causes(t, err), path+": "+message)
				delete(unheard, kind+": "+message)
			})
		}
	}
	require.Empty(t, unheard, "rules without a refusal")
}

// refuse asks the server for what it has to refuse.
func refuse(t *testing.T, c *cluster.Cluster, kind string, r refusal) error {
	t.Helper()
	namespace := newNamespace(t, c)
	object := patched(t, namespace, kind, r.Patch)
	if r.Old == "" {
		return c.Client.Create(t.Context(), object, client.DryRunAll)
	}
	old := patched(t, namespace, kind, r.Old)
	require.NoError(t, c.Client.Create(t.Context(), old))
	object.SetResourceVersion(old.GetResourceVersion())
	return c.Client.Update(t.Context(), object, client.DryRunAll)
}

func patched(t *testing.T, namespace, kind, patch string) *unstructured.Unstructured {
	t.Helper()
	before, err := yaml.YAMLToJSON([]byte(valid[kind]))
	require.NoError(t, err)
	change, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(t, err)
	after, err := jsonpatch.MergePatch(before, change)
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, object.UnmarshalJSON(after))
	if kind != v1alpha1.KindStorageReservation {
		object.SetNamespace(namespace)
	}
	return object
}

// causes are the paths and messages of a refusal.
func causes(t *testing.T, err error) []string {
	t.Helper()
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	var status apierrors.APIStatus
	require.True(t, errors.As(err, &status))
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		require.NotEqual(t, metav1.CauseTypeFieldValueNotSupported, cause.Type)
		// Invalid value: <the value>: <the message>
		_, message, _ := strings.Cut(cause.Message, ": ")
		for message != "" {
			lines = append(lines, cause.Field+": "+message)
			_, message, _ = strings.Cut(message, ": ")
		}
	}
	return lines
}

// messages are those of all rules, by kind.
func messages(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, manifest := range definitions.Fleets(t) {
		text, err := yaml.YAMLToJSON(manifest)
		require.NoError(t, err)
		var definition struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct{ Schema any }
			}
		}
		require.NoError(t, json.Unmarshal(text, &definition))
		for _, version := range definition.Spec.Versions {
			collect(version.Schema, func(message string) { found[definition.Spec.Names.Kind+": "+message] = true })
		}
	}
	require.Greater(t, len(found), 50)
	return found
}

// collect finds the messages of rules anywhere in a schema.
func collect(schema any, found func(message string)) {
	switch node := schema.(type) {
	case []any:
		for _, child := range node {
			collect(child, found)
		}
	case map[string]any:
		if rules, ok := node["x-kubernetes-validations"].([]any); ok {
			for _, rule := range rules {
				message, _ := rule.(map[string]any)["message"].(string)
				found(message)
			}
		}
		for _, child := range node {
			collect(child, found)
		}
	}
}

func TestKubectlShowsFleets(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	namespace := newNamespace(t, c)
	for kind, short := range map[string]string{v1alpha1.KindPersistentFleet: "pfleet", v1alpha1.KindBucketFleet: "bfleet"} {
		require.NoError(t, c.Client.Create(t.Context(), patched(t, namespace, kind, "{}")))
		stdout, stderr, err := c.Kubectl(t, nil, "get", short, "-n", namespace)
		require.NoError(t, err, stderr)
		lines := strings.Split(stdout, "\n")
		require.Equal(t, []string{"NAME", "PHASE", "READY", "DESIRED", "REASON", "AGE"}, strings.Fields(lines[0]))
		require.Equal(t, []string{"my-fleet", "3"}, strings.Fields(lines[1])[:2])
	}
	stdout, stderr, err := c.Kubectl(t, nil, "get", "celld", "-n", namespace, "-o", "name")
	require.NoError(t, err, stderr)
	require.Contains(t, stdout, "persistentfleet.celld.eric.dev/my-fleet\n")
	require.Contains(t, stdout, "bucketfleet.celld.eric.dev/my-fleet\n")
}
