// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

const (
	fleetFile    = "fleets/production/my-fleet.yaml"
	sessionsFile = "fleets/production/sessions.yaml"
	fleetsFile   = "clusters/production/fleets.yaml"
)

// team has copied the example, and moved it to names of its own.
type team struct {
	*flux
	*kustomization
	t   *testing.T
	w   *cluster.World
	dir string // its repository
}

// team returns one whose fleets are not applied yet.
func (f *flux) team(t *testing.T) *team {
	t.Helper()
	w := f.World(t)
	tm := &team{flux: f, t: t, w: w, dir: copyExample(t), kustomization: &kustomization{f: f, name: w.Namespace}}
	for _, file := range []string{fleetFile, sessionsFile} {
		tm.edit(file, "namespace: fleets", "namespace: "+w.Namespace)
		tm.edit(file, "s3://my-", "s3://"+w.Namespace+"-my-")
		tm.edit(file, "[us-east-1a, us-east-1b, us-east-1c]", "["+strings.Join(w.Zones, ", ")+"]")
	}
	tm.edit("clusters/production/namespace.yaml", "name: fleets", "name: "+w.Namespace)
	tm.edit("clusters/production/namespace.yaml", "namespace: fleets", "namespace: "+w.Namespace)
	tm.MustKubectl(t, "apply", "--server-side", "-f", filepath.Join(tm.dir, "clusters/production/namespace.yaml"))
	return tm
}

// follow creates what tells Flux to apply the fleets, and retries sooner than
// a minute after a failure. At the end it has Flux leave them alone.
func (tm *team) follow(file string) {
	tm.t.Helper()
	tm.edit(file, "name: fleets", "name: "+tm.name)
	tm.edit(file, "retryInterval: 1m", "retryInterval: 2s")
	tm.MustKubectl(tm.t, "apply", "--server-side", "-f", filepath.Join(tm.dir, file))
	tm.t.Cleanup(func() { tm.forget(tm.t) })
}

// edit replaces text in a file of the repository.
func (tm *team) edit(file, old, new string) {
	tm.t.Helper()
	text := tm.read(file)
	require.Contains(tm.t, text, old, file)
	tm.write(file, strings.ReplaceAll(text, old, new))
}

func (tm *team) read(file string) string {
	tm.t.Helper()
	text, err := os.ReadFile(filepath.Join(tm.dir, file))
	require.NoError(tm.t, err)
	return string(text)
}

func (tm *team) write(file, text string) {
	tm.t.Helper()
	require.NoError(tm.t, os.WriteFile(filepath.Join(tm.dir, file), []byte(text), 0o644))
}

// spec adds a line to the spec of a fleet.
func (tm *team) spec(file, line string) {
	tm.t.Helper()
	tm.edit(file, "spec:\n", "spec:\n  "+line+"\n")
}

func (tm *team) remove(file string) {
	tm.t.Helper()
	require.NoError(tm.t, os.Remove(filepath.Join(tm.dir, file)))
}

// render runs the command of the page.
func (tm *team) render() {
	tm.t.Helper()
	for _, line := range []string{"fleetwright validate fleets/production", "fleetwright render fleets/production -o rendered/production"} {
		said, err := tm.shell(tm.t, tm.dir, tm.page.line(tm.t, line))
		require.NoError(tm.t, err, said)
	}
}

// commit renders the fleets and publishes the repository, and waits for what
// Flux says of it.
func (tm *team) commit(want verdict) {
	tm.t.Helper()
	tm.render()
	tm.waitRevision(tm.t, tm.publish(tm.t, "GitRepository", tm.name, tm.dir), want)
}

// newTeam returns one whose fleets run.
func (f *flux) newTeam(t *testing.T) *team {
	t.Helper()
	tm := f.team(t)
	tm.follow(fleetsFile)
	tm.commit(ready)
	return tm
}

// newSmallTeam has no BucketFleet.
func (f *flux) newSmallTeam(t *testing.T) *team {
	t.Helper()
	tm := f.team(t)
	tm.remove(sessionsFile)
	tm.follow(fleetsFile)
	tm.commit(ready)
	return tm
}

// get reads an object of the team.
func (tm *team) get(apiVersion, kind, name string) *unstructured.Unstructured {
	tm.t.Helper()
	object := tm.object(apiVersion, kind, name)
	require.NoError(tm.t, tm.Client.Get(tm.t.Context(), client.ObjectKeyFromObject(object), object))
	return object
}

func (tm *team) object(apiVersion, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(tm.w.Namespace)
	object.SetName(name)
	return object
}

func (tm *team) fleet() *unstructured.Unstructured {
	tm.t.Helper()
	return tm.get("celld.eric.dev/v1alpha1", "PersistentFleet", "my-fleet")
}

func (tm *team) set() *unstructured.Unstructured {
	tm.t.Helper()
	return tm.get("apps/v1", "StatefulSet", "my-fleet")
}

// waitPhase waits until the healer reports a phase of a fleet.
func (tm *team) waitPhase(kind, name, phase string) {
	tm.t.Helper()
	fleet := tm.object("celld.eric.dev/v1alpha1", kind, name)
	cluster.Wait(tm.t, fmt.Sprintf("%s %s to be %s", kind, name, phase), tm.Object(fleet, func() (bool, string) {
		seen := text(fleet, "status", "phase")
		return seen == phase && number(fleet, "status", "observedGeneration") == fleet.GetGeneration(), fmt.Sprint(fleet.Object["status"])
	}))
}

// claims are those of the namespace.
func (tm *team) claims() []corev1.PersistentVolumeClaim {
	tm.t.Helper()
	var claims corev1.PersistentVolumeClaimList
	require.NoError(tm.t, tm.Client.List(tm.t.Context(), &claims, client.InNamespace(tm.w.Namespace)))
	return claims.Items
}

func (tm *team) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: tm.w.Namespace, Name: name}
}

func text(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
}

func number(object *unstructured.Unstructured, path ...string) int64 {
	value, _, _ := unstructured.NestedInt64(object.Object, path...)
	return value
}
