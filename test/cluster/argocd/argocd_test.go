// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestArgoCD(t *testing.T) {
	s := newSystem(t)
	require.True(t, t.Run("Fleetwright is installed", s.testInstall), "nothing else can work")
	for strategy := range strategies { // they take longest
		t.Run(strategy, s.testStrategy(strategy))
	}
	for name, test := range map[string]func(*testing.T){
		"the page can be followed":                             s.testPage,
		"what cannot be rendered reaches nothing":              s.testBroken,
		"what is refused is tried again, until Git has better": s.testRefused,
		"force deletes nothing that cannot be changed":         s.testForced,
		"server-side diff hides what is refused":               s.testServerSideDiff,
		"the sidecar fits the repo server":                     s.testSidecar,
		"a fleet without disks":                                s.testBucketFleet,
		"drift is shown and repaired":                          s.testDrift,
		"what is gone from Git is pruned":                      s.testPrune,
		"parameters of the plugin":                             s.testParameters,
		"applications that name no plugin":                     s.testDiscovery,
		"an overlay of kustomize":                              s.testOverlay,
		"a set of applications":                                s.testApplicationSet,
		"health checks answer as their test data wants":        s.testHealth,
	} {
		t.Run(name, test)
	}
}

// testInstall installs the chart by the example. What the webhook fills in, the
// bundle of its authority and its certificate, is no difference. A fleet that
// is there before has to wait.
func (s *system) testInstall(t *testing.T) {
	r := newRepository(s.programs.t) // which outlasts this test
	require.NoError(t, os.CopyFS(filepath.Join(r.dir, "charts/fleetwright"), os.DirFS(path(t, "charts/fleetwright"))))
	revision := r.commit("The chart")
	s.chart = r.url()
	early := s.newFleet(t, "early")
	first := early.commit("A fleet")
	early.start()
	early.wait("to find no definition of fleets", func() bool {
		return early.OperationState.Phase == "Running" && strings.Contains(early.OperationState.Message, "Retrying")
	})

	a := create(s.programs.t, s.Cluster, example(t, "fleetwright.yaml", r.url()))
	a.waitSynced(revision, "Healthy")
	require.Equal(t, "Helm", a.SourceType)

	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "fleetwright-webhook"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleetwright-system", Name: "fleetwright-webhook-tls"}}
	requireFilledIn := func() {
		s.Get(configuration)
		require.NotEmpty(t, configuration.Webhooks[0].ClientConfig.CABundle)
		s.Get(secret)
		require.NotEmpty(t, secret.Data["tls.key"])
	}
	requireFilledIn()
	a.refresh()
	require.Equal(t, "Synced", a.Sync.Status, "%s", a)
	a.sync()
	requireFilledIn()
	a.waitSynced(revision, "Healthy")

	early.waitSynced(first, "Healthy")
}
