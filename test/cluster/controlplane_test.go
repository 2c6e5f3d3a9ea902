// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/binaries"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	version, err := shared.Cluster(t).Kubernetes.Discovery().ServerVersion()
	require.NoError(t, err)
	require.Equal(t, binaries.KubernetesVersion, version.GitVersion)
	require.Equal(t, "36", version.Minor)
}

func TestServerShowsACertificate(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	stranger := rest.CopyConfig(c.Config)
	stranger.CAData = nil
	err := cluster.NewClient(t, c.Config).List(t.Context(), &corev1.NodeList{})
	require.NoError(t, err)
	_, err = client.New(stranger, client.Options{})
	if err == nil {
		err = cluster.NewClient(t, stranger).List(t.Context(), &corev1.NodeList{})
	}
	require.ErrorContains(t, err, "certificate signed by unknown authority")
}

func TestUsersMayDoWhatTheyAreGranted(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	w := c.World(t)
	w.Create(
		&rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
			Subjects: []rbacv1.Subject{
				{APIGroup: rbacv1.GroupName, Kind: "User", Name: "jane"},
				{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"},
				{Kind: "ServiceAccount", Namespace: w.Namespace, Name: "default"},
			},
		},
	)
	for name, config := range map[string]*rest.Config{
		"user":            c.ConfigFor(t, "jane"),
		"group":           c.ConfigFor(t, "joe", "readers"),
		"service account": c.ServiceAccountConfig(t, w.Namespace, "default"),
	} {
		t.Run(name, func(t *testing.T) {
			as := cluster.NewClient(t, config)
			cluster.Wait(t, "the grant to be known", func(ctx ctx) (bool, string) {
				err := as.List(ctx, &corev1.PodList{}, client.InNamespace(w.Namespace))
				return err == nil, cluster.Outcome(err)
			})
			err := as.List(t.Context(), &corev1.PodList{}, client.InNamespace("kube-system"))
			require.True(t, apierrors.IsForbidden(err), err)
			pod := loosePod("pod", "registry.test/celld:1", w.Zones...)
			pod.Namespace = w.Namespace
			err = as.Create(t.Context(), pod)
			require.True(t, apierrors.IsForbidden(err), err)
		})
	}
}

func TestPodsGetTheirServiceAccountToken(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	pod := loosePod("pod", "registry.test/celld:1", w.Zones...)
	pod.Spec.AutomountServiceAccountToken = nil
	w.Create(pod)

	volumes := w.Pod("pod").Spec.Volumes
	require.Len(t, volumes, 1)
	require.NotNil(t, volumes[0].Projected.Sources[0].ServiceAccountToken)
	root := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "kube-root-ca.crt"}}
	cluster.Wait(t, "the root certificate to be published", w.Object(root, func() (bool, string) {
		return root.Data["ca.crt"] == string(w.Config.CAData), "another certificate"
	}))
}

func TestPodSecurityIsEnforced(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	pod := loosePod("pod", "registry.test/celld:1", w.Zones...)
	pod.Namespace = w.Namespace
	pod.Spec.Containers[0].SecurityContext.Capabilities = nil
	err := w.Client.Create(t.Context(), pod)
	require.True(t, apierrors.IsForbidden(err), err)
	require.ErrorContains(t, err, `violates PodSecurity "restricted:latest": unrestricted capabilities`)
}

func TestAuditLogCountsRequests(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	w := c.World(t)
	since := c.Mark(t)
	config := c.ConfigFor(t, "counted", "system:masters")
	config.UserAgent = "counted/1"
	as := cluster.NewClient(t, config)

	claim := newClaim(w, "disk")
	claim.Namespace = w.Namespace
	require.NoError(t, as.Create(t.Context(), claim.DeepCopy(), client.DryRunAll))
	require.NoError(t, as.Create(t.Context(), claim))
	require.NoError(t, as.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	require.NoError(t, as.Delete(t.Context(), claim, client.DryRunAll))
	require.NoError(t, as.Delete(t.Context(), claim))

	mine := c.Requests(t, since, func(r cluster.Request) bool {
		return r.User == "counted" && r.Resource == "persistentvolumeclaims"
	})
	require.Len(t, mine, 5, "%v", mine)
	require.Equal(t, []string{"create", "create", "get", "delete", "delete"},
		[]string{mine[0].Verb, mine[1].Verb, mine[2].Verb, mine[3].Verb, mine[4].Verb})
	require.True(t, mine[0].DryRun)
	require.False(t, mine[0].Writes())
	require.True(t, mine[1].Writes())
	require.False(t, mine[2].Writes())
	require.True(t, mine[3].DryRun)
	require.True(t, mine[4].Writes())
	require.Equal(t, 201, mine[1].Code)
	require.Equal(t, "counted/1", mine[1].UserAgent)
	require.Equal(t, w.Namespace, mine[1].Namespace)
	require.Equal(t, "disk", mine[4].Name)
	require.Contains(t, string(mine[1].Body), `"accessModes":["ReadWriteOncePod"]`)
	require.Empty(t, c.Requests(t, c.Mark(t), func(r cluster.Request) bool { return r.User == "counted" }))
}

// Two Worlds know nothing of each other.
func TestWorldsAreApart(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	one, other := c.World(t), c.World(t)
	require.NotEqual(t, one.Namespace, other.Namespace)
	for _, zone := range one.Zones {
		require.NotContains(t, other.Zones, zone)
	}
	newMembers(other)
	one.LoseZone(one.Zones[0])
	for _, name := range memberNames(3) {
		other.WaitReady(name)
	}
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	manifest := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: " + w.Namespace + "}\n")
	stdout, stderr, err := w.Kubectl(t, manifest, "apply", "-f", "-")
	require.NoError(t, err, stderr)
	require.Equal(t, "configmap/made created\n", stdout)

	_, stderr, err = w.Kubectl(t, nil, "get", "-n", w.Namespace, "configmap/missing")
	require.ErrorContains(t, err, "exit status 1")
	require.Equal(t, "Error from server (NotFound): configmaps \"missing\" not found\n", stderr)
}

func TestControlPlaneFitsIntoAGibibyte(t *testing.T) {
	t.Parallel()
	held, err := shared.Cluster(t).Memory()
	require.NoError(t, err)
	require.Less(t, held, 1024)
	require.Greater(t, held, 100)
}
