// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testSidecar looks at what the component makes of Argo CD's own manifest,
// which the API server has taken.
func (s *system) testSidecar(t *testing.T) {
	t.Parallel()
	pod := s.repoServer(t).Spec.Template.Spec
	volumes := map[string]corev1.VolumeSource{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = volume.VolumeSource
	}
	containers := map[string]corev1.Container{}
	for _, container := range append(pod.Containers, pod.InitContainers...) {
		containers[container.Name] = container
	}
	mount := func(container, path string) string {
		t.Helper()
		for _, m := range containers[container].VolumeMounts {
			if m.MountPath == path {
				require.Contains(t, volumes, m.Name)
				return m.Name
			}
		}
		require.FailNow(t, "not mounted", "%s %s", container, path)
		return ""
	}
	const sidecar, server = "fleetwright", "argocd-repo-server"
	const program = "/var/run/argocd"
	require.Equal(t, []string{program + "/argocd-cmp-server"}, containers[sidecar].Command)
	require.Contains(t, containers["copyutil"].Command, program+"/argocd-cmp-server", "that is who puts it there")
	require.Equal(t, mount("copyutil", program), mount(sidecar, program))
	const sockets = "/home/argocd/cmp-server/plugins"
	require.Equal(t, mount(server, sockets), mount(sidecar, sockets))
	require.NotEqual(t, mount(server, "/tmp"), mount(sidecar, "/tmp"))
	require.NotNil(t, volumes[mount(sidecar, "/home/argocd/cmp-server/config")].ConfigMap)
	require.EqualValues(t, 999, *containers[sidecar].SecurityContext.RunAsUser)

	config, _, err := unstructured.NestedStringMap(s.pluginMap(t).Object, "data")
	require.NoError(t, err)
	require.Equal(t, read(t, "config/argocd/plugin.yaml"), config["plugin.yaml"])
	settings, _, err := unstructured.NestedStringMap(s.find(t, "ConfigMap", "argocd-cm").Object, "data")
	require.NoError(t, err)
	for _, kind := range []string{"PersistentFleet", "BucketFleet"} {
		require.Equal(t, read(t, "config/argocd/health/"+kind+"/health.lua"), settings["resource.customizations.health.celld.eric.dev_"+kind])
	}
}
