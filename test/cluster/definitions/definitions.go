// SPDX-License-Identifier: Apache-2.0

// Package definitions installs the definitions of fleets and of the Gateway API
// into a control plane.
package definitions

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/crd"
	"github.com/fleetwright/fleetwright/config/policy"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// Install installs them and waits until they are served.
func Install(tb testing.TB, c *cluster.Cluster) {
	tb.Helper()
	for _, manifest := range Fleets(tb) {
		must(tb, install(tb.Context(), c, manifest))
	}
	must(tb, forbid(tb.Context(), c))
	must(tb, Routes(tb.Context(), c))
}

// Routes installs the definition of HTTPRoutes alone.
func Routes(ctx context.Context, c *cluster.Cluster) error {
	manifest, err := httpRoute(ctx)
	if err != nil {
		return err
	}
	return install(ctx, c, manifest)
}

// forbid installs the policy that goes with the definitions, and waits until
// it is at work.
func forbid(ctx context.Context, c *cluster.Cluster) error {
	objects, err := cluster.Decode(policy.Fields)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := c.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "celld.eric.dev/v1alpha1", "kind": "StorageReservation", "metadata": map[string]any{"name": "s3-probe-policy"},
		"spec": map[string]any{"bucket": "s3://probe-policy", "identity": "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11",
			"fleet": map[string]any{"kind": "PersistentFleet", "namespace": "probe", "name": "probe"}},
	}}
	if err := c.Client.Create(ctx, probe); err != nil {
		return err
	}
	change := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"bucket":"s3://another"}}`))
	if err := cluster.Await(ctx, cluster.Patience, "the policy to forbid changes", func(ctx context.Context) (bool, string) {
		err := c.Client.Patch(ctx, probe.DeepCopy(), change, client.DryRunAll)
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	}); err != nil {
		return err
	}
	return c.Client.Delete(ctx, probe)
}

// Fleets returns the definitions of fleets and reservations as they ship.
func Fleets(tb testing.TB) [][]byte {
	tb.Helper()
	entries, err := crd.Files.ReadDir(".")
	must(tb, err)
	var manifests [][]byte
	for _, entry := range entries {
		manifest, err := crd.Files.ReadFile(entry.Name())
		must(tb, err)
		manifests = append(manifests, manifest)
	}
	return manifests
}

// httpRoute is from the module that the types are of.
func httpRoute(ctx context.Context) ([]byte, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the module of the Gateway API: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"))
}

func install(ctx context.Context, c *cluster.Cluster, manifest []byte) error {
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(manifest, &object.Object); err != nil {
		return err
	}
	if err := c.Client.Create(ctx, object); err != nil {
		return err
	}
	awaited := "CustomResourceDefinition " + object.GetName() + " to be served"
	return cluster.Await(ctx, cluster.Patience, awaited, func(ctx context.Context) (bool, string) {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		return served(object)
	})
}

func served(object *unstructured.Unstructured) (bool, string) {
	text, err := object.MarshalJSON()
	if err != nil {
		return false, err.Error()
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, definition); err != nil {
		return false, err.Error()
	}
	established := false
	for _, condition := range definition.Status.Conditions {
		switch {
		case condition.Type == apiextensionsv1.NonStructuralSchema && condition.Status == apiextensionsv1.ConditionTrue:
			return false, "not structural: " + condition.Message
		case condition.Type == apiextensionsv1.Established:
			established = condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return established, fmt.Sprintf("%+v", definition.Status.Conditions)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
