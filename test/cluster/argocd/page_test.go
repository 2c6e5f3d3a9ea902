// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// testPage follows docs/argocd.md. The reader's repositories are on this
// machine, and nobody but this test can say that the played repo server is ready.
func (s *system) testPage(t *testing.T) {
	t.Parallel()
	fleets := newRepository(t)
	fleets.write("README.md", "Fleets.\n")
	fleets.commit("Begin")
	fleets.git("config", "receive.denyCurrentBranch", "updateInstead")
	config := write(t, filepath.Join(t.TempDir(), "gitconfig"), fmt.Sprintf(
		"[user]\nname = test\nemail = test@example.com\n[url %q]\ninsteadOf = %s\n", fleets.url(), remoteFleets))
	s.reader.Env = append(s.reader.Env, "GIT_CONFIG_GLOBAL="+config)
	s.useRepository("application.yaml", remoteFleets, fleets.url())
	s.useRepository("fleetwright.yaml", remoteFleetwright, s.chart)

	stop := s.playReady(t)
	s.reader.Follow(t, "docs/argocd.md")
	stop()
	s.waitGone(t, named("my-fleet"))
	require.Empty(t, (&fleet{t: t, s: s, namespace: "fleets"}).claims())
}

const (
	remoteFleets      = "https://git.example.com/fleets.git"
	remoteFleetwright = "https://github.com/fleetwright/fleetwright.git"
)

// useRepository has an example of the reader read a repository of this machine.
func (s *system) useRepository(example, remote, local string) {
	name := filepath.Join(s.reader.Dir, "examples/argocd", example)
	text, err := os.ReadFile(name)
	require.NoError(s.programs.t, err)
	require.Contains(s.programs.t, string(text), remote)
	changed := strings.NewReplacer(remote, local, "targetRevision: v0.1.0", "targetRevision: main").Replace(string(text))
	require.NoError(s.programs.t, os.WriteFile(name, []byte(changed), 0o644))
}

// playReady says of Pods with the sidecar that they are ready, until told to stop.
func (s *system) playReady(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			pods := &corev1.PodList{}
			_ = s.Client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "argocd-repo-server"})
			for i := range pods.Items {
				_ = s.Tell(ctx, client.ObjectKeyFromObject(&pods.Items[i]), cluster.Ready)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	t.Cleanup(cancel)
	return cancel
}
