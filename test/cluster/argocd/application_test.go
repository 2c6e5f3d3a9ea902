// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// application is one in the cluster, and what its controller says of it.
type application struct {
	t      testing.TB
	c      *cluster.Cluster
	object *unstructured.Unstructured
	status
}

// status has the fields of an Application's that tests look at.
type status struct {
	SourceType string
	Sync       struct{ Status, Revision string }
	Health     struct{ Status string }
	Conditions []struct{ Type, Message string }
	Resources  []resource

	OperationState struct{ Phase, Message string }
}

type resource struct {
	Kind, Namespace, Name, Status string
	Health                        struct{ Status, Message string }
}

// example is an object of examples/argocd that reads another repository.
func example(t testing.TB, name, repository string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, "examples/argocd/"+name)), &object.Object))
	require.NoError(t, unstructured.SetNestedField(object.Object, repository, "spec", "source", "repoURL"))
	require.NoError(t, unstructured.SetNestedField(object.Object, "main", "spec", "source", "targetRevision"))
	return object
}

// create creates an Application that lasts as long as a test; what it has
// synced stays.
func create(t testing.TB, c *cluster.Cluster, object *unstructured.Unstructured) *application {
	t.Helper()
	require.NoError(t, c.Client.Create(t.Context(), object))
	left := object.DeepCopy() // waiting empties the other one
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(c.Client.Delete(context.WithoutCancel(t.Context()), left)))
	})
	return &application{t: t, c: c, object: object}
}

// patch changes the Application as people do with kubectl.
func (a *application) patch(patch string) {
	a.t.Helper()
	require.NoError(a.t, a.c.Client.Patch(a.t.Context(), a.object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// refresh has the controller compare anew, with Git and the plugin asked again,
// and waits until it has.
func (a *application) refresh() {
	a.t.Helper()
	const refresh = "argocd.argoproj.io/refresh"
	a.patch(fmt.Sprintf(`{"metadata":{"annotations":{%q:"hard"}}}`, refresh))
	a.wait("to be refreshed", func() bool { return a.object.GetAnnotations()[refresh] == "" })
}

// sync has the controller sync, and waits until it has.
func (a *application) sync() {
	a.t.Helper()
	a.patch(`{"operation":{"initiatedBy":{"username":"test"},"sync":{"prune":true,"syncOptions":` + a.options() + `}}}`)
	a.wait("to have synced", func() bool {
		_, asked := a.object.Object["operation"]
		return !asked && a.OperationState.Phase == "Succeeded"
	})
}

// options are those of its policy; a sync by hand would have none.
func (a *application) options() string {
	a.t.Helper()
	options, _, err := unstructured.NestedStringSlice(a.object.Object, "spec", "syncPolicy", "syncOptions")
	require.NoError(a.t, err)
	text, err := json.Marshal(options)
	require.NoError(a.t, err)
	return string(text)
}

// waitSynced waits until what is in Git at a revision is in the cluster, and
// the Application has a health.
func (a *application) waitSynced(revision, health string) {
	a.t.Helper()
	a.wait(fmt.Sprintf("to be Synced to %.7s, and %s", revision, health), func() bool {
		return a.Sync.Status == "Synced" && a.Sync.Revision == revision && a.Health.Status == health &&
			(a.OperationState.Phase == "Succeeded" || a.OperationState.Phase == "")
	})
}

// waitCondition waits until it has a condition that says something.
func (a *application) waitCondition(kind string, says ...string) {
	a.t.Helper()
	a.wait(fmt.Sprintf("to have a %s that says %q", kind, says), func() bool {
		for _, condition := range a.Conditions {
			if condition.Type != kind {
				continue
			}
			all := true
			for _, text := range says {
				all = all && strings.Contains(condition.Message, text)
			}
			if all {
				return true
			}
		}
		return false
	})
}

func (a *application) wait(awaited string, want func() bool) {
	a.t.Helper()
	cluster.Wait(a.t, "Application "+a.object.GetName()+" "+awaited, a.check(want))
}

func (a *application) check(want func() bool) cluster.Check {
	return a.c.Object(a.object, func() (bool, string) {
		a.status = status{}
		found, _, err := unstructured.NestedMap(a.object.Object, "status")
		if err != nil {
			return false, err.Error()
		}
		text, err := json.Marshal(found)
		if err != nil {
			return false, err.Error()
		}
		if err := json.Unmarshal(text, &a.status); err != nil {
			return false, err.Error()
		}
		return want(), a.String()
	})
}

// String leaves out objects that are as they should be.
func (s status) String() string {
	s.Resources = slices.DeleteFunc(slices.Clone(s.Resources), func(r resource) bool {
		return r.Status == "Synced" && (r.Health.Status == "" || r.Health.Status == "Healthy")
	})
	type plain status
	return fmt.Sprintf("%+v", plain(s))
}
