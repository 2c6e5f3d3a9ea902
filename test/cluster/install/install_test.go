// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/pages"
)

// ways are those of docs/install.md that need nothing but kubectl.
var ways = map[string]struct{ apply, remove []string }{
	"plain YAML": {
		apply:  []string{"apply", "--server-side", "-f", "dist/install.yaml"},
		remove: []string{"delete", "-f", "dist/kustomize/fleetwright.yaml", "-f", "dist/kustomize/namespace.yaml"},
	},
	"kustomize": {
		apply:  []string{"apply", "--server-side", "-k", "dist/kustomize"},
		remove: []string{"delete", "-f", "dist/kustomize/fleetwright.yaml", "-f", "dist/kustomize/namespace.yaml"},
	},
}

const rollout = "kubectl -n fleetwright-system rollout status deployment/fleetwright-healer deployment/fleetwright-webhook"

// TestCommandsOfThePage holds that the page shows what the tests here run, and nothing else.
func TestCommandsOfThePage(t *testing.T) {
	run := []string{
		helmInstall, rollout, helmUninstall, removeCRDs,
		"make image IMAGE=registry.example.com/fleetwright VERSION=v0.1.0", // there is no engine here; tests of the chart run its steps
	}
	for _, way := range ways {
		run = append(run, "kubectl "+strings.Join(way.apply, " "))
	}
	run = append(run, "kubectl "+strings.Join(ways["kustomize"].remove, " "))
	require.ElementsMatch(t, run, pages.Commands(t, "docs/install.md"))
}

// in names files of the repository where kubectl finds them.
func in(t *testing.T, args []string) []string {
	t.Helper()
	out := make([]string, len(args))
	for i, arg := range args {
		if out[i] = arg; strings.HasPrefix(arg, "dist/") {
			out[i] = path(t, arg)
		}
	}
	return out
}

// TestInstall installs, upgrades to the same and uninstalls, by each way after
// the other: what one leaves behind is no hindrance for the next.
func TestInstall(t *testing.T) {
	c := newCluster(t)
	require.Empty(t, inventory(t, c))
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			kubectl(t, c, in(t, way.apply)...)
			kubectl(t, c, strings.Fields(rollout)[1:]...)
			awaitRunning(t, c)
			requireAdmitted(t, c)
			requireWorking(t, c)
			requireSecondChangesNothing(t, c, in(t, way.apply))

			kubectl(t, c, in(t, way.remove)...)
			var left []string
			for _, object := range manifest(t) {
				if object.GetKind() == "CustomResourceDefinition" {
					left = append(left, nameOf(object))
				}
			}
			cluster.Wait(t, "nothing but definitions to be left", func(ctx) (bool, string) {
				now := inventory(t, c)
				return len(now) == len(left), strings.Join(now, ", ")
			})
			require.ElementsMatch(t, left, inventory(t, c))
		})
	}
}

// awaitRunning waits until every Pod runs, which shows that they are admitted
// in a namespace that enforces the restricted standard, and scheduled.
func awaitRunning(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for _, name := range []string{"fleetwright-healer", "fleetwright-webhook"} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}}
		cluster.Wait(t, name+" to be rolled out", c.Object(d, func() (bool, string) {
			s := d.Status
			return s.ObservedGeneration == d.Generation && s.AvailableReplicas == 2 && s.UpdatedReplicas == 2,
				fmt.Sprintf("%d available of %d", s.AvailableReplicas, s.Replicas)
		}))
	}
	pods := &corev1.PodList{}
	require.NoError(t, c.Client.List(t.Context(), pods, client.InNamespace(system)))
	nodes := map[string][]string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		program := pod.Labels["app.kubernetes.io/name"]
		require.NotContains(t, nodes[program], pod.Spec.NodeName, "two Pods of a program on one of three nodes")
		nodes[program] = append(nodes[program], pod.Spec.NodeName)
		require.Equal(t, program, pod.Spec.ServiceAccountName)
	}
}

// requireAdmitted compares what is stored with what was applied.
func requireAdmitted(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for _, object := range manifest(t) {
		live := object.DeepCopy()
		require.NoError(t, c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), live), nameOf(object))
		for key, value := range object.Object {
			if key == "metadata" || key == "status" {
				continue
			}
			requireWithin(t, nameOf(object)+" "+key, value, live.Object[key])
		}
	}
}

// requireWithin checks that everything wanted is there, beside defaults.
func requireWithin(t *testing.T, where string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		require.True(t, ok || len(want) == 0, "%s: %v", where, got)
		for key, value := range want {
			requireWithin(t, where+"."+key, value, have[key])
		}
	case []any:
		have, ok := got.([]any)
		require.True(t, ok, "%s: %v", where, got)
		require.Len(t, have, len(want), where)
		for i := range want {
			requireWithin(t, fmt.Sprintf("%s[%d]", where, i), want[i], have[i])
		}
	default:
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), where)
	}
}

// requireSecondChangesNothing applies again while no controller writes.
func requireSecondChangesNothing(t *testing.T, c *cluster.Cluster, apply []string) {
	t.Helper()
	start := c.StopControllers(t)
	defer start()
	objects := manifest(t)
	before := versions(t, c, objects)
	kubectl(t, c, apply...)
	require.Equal(t, before, versions(t, c, objects))
	ok, seen := rotates(c)(t.Context())
	require.True(t, ok, "what the webhook filled in is its own, and stays: %s", seen)
}
