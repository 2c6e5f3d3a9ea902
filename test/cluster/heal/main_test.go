// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	confighealer "github.com/fleetwright/fleetwright/config/healer"
	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
)

type ctx = context.Context

const (
	system  = "fleetwright-system"
	account = "fleetwright-healer"
)

var (
	shared   = cluster.Shared{Check: rightsAreUsed}
	installs sync.Once
)

// rightsAreUsed holds that the healer has no right that it needs not.
func rightsAreUsed(c *cluster.Cluster) error {
	return c.CheckRights(confighealer.Role, "system:serviceaccount:"+system+":"+account,
		// These healers run alone, and test/cluster/install has several.
		"get coordination.k8s.io/leases", "create coordination.k8s.io/leases", "update coordination.k8s.io/leases",
		// For an event of the lease that is repeated within minutes.
		"patch /events")
}

func TestMain(m *testing.M) {
	// The test's own client has this scheme.
	if err := healer.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	os.Exit(shared.Main(m))
}

// newCluster returns the cluster of this package, with the definitions, and the
// service account of the healer with exactly the rights that it ships with.
func newCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	installs.Do(func() { install(t, c) })
	return c
}

func install(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	definitions.Install(t, c)
	grant(t, c)
}

func grant(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: account}}
	meta := metav1.ObjectMeta{Namespace: system, Name: account}
	require.NoError(t, c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}))
	require.NoError(t, c.Client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}))
	require.NoError(t, c.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
	}))
	require.NoError(t, c.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
	}))
	roles := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(confighealer.Role), 1<<10)
	for {
		role := &unstructured.Unstructured{}
		err := roles.Decode(&role.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if len(role.Object) > 0 { // the comment at the top is a document too
			require.NoError(t, c.Client.Create(t.Context(), role))
		}
	}
}

// asHealer is how the shipped healer reaches the API server.
func asHealer(t testing.TB, c *cluster.Cluster) *rest.Config {
	t.Helper()
	return c.ServiceAccountConfig(t, system, account)
}
