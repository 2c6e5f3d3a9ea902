// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	ssaerrors "github.com/fluxcd/pkg/ssa/errors"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/config/policy"
)

// kubectl apply --force, and Flux with force, delete an object and create it
// anew when a change is Invalid. A change of what cannot be changed is Forbidden, with the webhook
// and without, so the fleet stays, with its members and disks.
func TestForceKeepsWhatCannotBeChanged(t *testing.T) {
	t.Parallel()
	f := newLive(t)
	f.guarded(false)
	before := f.uids()
	for field, value := range map[string]string{
		"size": "20Gi", "storageClassName": "other", "bucket": "s3://elsewhere", "region": "eu-west-1",
	} {
		t.Run(field, func(t *testing.T) {
			said, err := f.force(func(spec map[string]any) { spec["storage"].(map[string]any)[field] = value })
			require.Error(t, err)
			require.Contains(t, said, "spec.storage."+field+": cannot be changed")
		})
	}
	said, err := f.force(func(spec map[string]any) { spec["identity"] = identity })
	require.Error(t, err)
	require.Contains(t, said, "spec.identity: cannot be changed")
	require.Equal(t, before, f.uids())

	flux := ssa.NewResourceManager(f.c.Client, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	u := f.rendered()[0]
	u.Object["spec"].(map[string]any)["storage"].(map[string]any)["size"] = "20Gi"
	_, err = flux.Apply(t.Context(), u, ssa.ApplyOptions{Force: true})
	require.ErrorContains(t, err, "spec.storage.size: cannot be changed")
	require.Equal(t, before, f.uids())

	g := newBucketFleet(t, f.c)
	g.sync()
	before = g.uids()
	said, err = g.force(func(spec map[string]any) { spec["workload"] = "Ordered" })
	require.Error(t, err)
	require.Contains(t, said, "spec.workload: cannot be changed")
	require.Equal(t, before, g.uids())
}

// Whatever else is Invalid still makes --force delete the fleet, unless it is
// protected.
func TestForceKeepsProtectedFleets(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(f *v1alpha1.PersistentFleet) {
		f.Annotations = map[string]string{v1alpha1.AnnotationProtect: "true"}
	})
	f.sync()
	before := f.uids()
	said, err := f.force(func(spec map[string]any) { spec["replicas"] = int64(200) })
	require.Error(t, err)
	require.Contains(t, said, "protects the fleet")
	require.Equal(t, before, f.uids())

	text, err := json.Marshal(f.rendered()[0])
	require.NoError(t, err)
	said, err = f.kubectl(string(text), "replace", "--force", "-f", "-")
	require.Error(t, err)
	require.Contains(t, said, "protects the fleet")
	require.Equal(t, before, f.uids())
}

// Flux takes some words of an error, whatever its code, for a reason to delete
// the object and create it anew. No text of ours has them.
func TestNoMessageMakesFluxDelete(t *testing.T) {
	t.Parallel()
	require.True(t, ssaerrors.IsImmutableError(errors.New("spec.size: is immutable")), "Flux has changed")
	require.False(t, ssaerrors.IsImmutableError(apierrors.NewForbidden(corev1.Resource("a"), "a", errors.New(string(policy.Fields)))))
	read := 0
	for _, dir := range []string{"api", "webhook", "render", "healer", "internal", "cmd", "config"} {
		require.NoError(t, filepath.WalkDir("../../../"+dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					read++
					require.False(t, ssaerrors.IsImmutableError(errors.New(text.Value)), "%s: %s", path, text.Value)
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, read, 1000)
}

// force applies a changed fleet with --force, as the API server stores it.
func (f *fleet) force(change func(spec map[string]any)) (said string, err error) {
	f.t.Helper()
	u := f.rendered()[0]
	change(u.Object["spec"].(map[string]any))
	text, err := json.Marshal(u)
	require.NoError(f.t, err)
	return f.kubectl(string(text), "apply", "--force", "--grace-period=0", "-f", "-")
}

// uids are those of the fleet, its objects and its claims.
func (f *fleet) uids() map[string]string {
	f.t.Helper()
	uids := map[string]string{}
	for _, object := range f.rendered() {
		u := f.read(object.GetAPIVersion(), object.GetKind(), object.GetName())
		uids[u.GetKind()+"/"+u.GetName()] = string(u.GetUID())
	}
	claims := &corev1.PersistentVolumeClaimList{}
	require.NoError(f.t, f.c.Client.List(f.t.Context(), claims, client.InNamespace(f.GetNamespace())))
	for i := range claims.Items {
		require.Nil(f.t, claims.Items[i].DeletionTimestamp)
		uids["claim/"+claims.Items[i].Name] = string(claims.Items[i].UID)
	}
	return uids
}
