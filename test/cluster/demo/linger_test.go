// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/standin"
)

// Kept, the nodes are all there, everything runs until the demo is told to end,
// and then nothing is left.
func TestLinger(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	said := &transcript{}
	var d *demo
	ended := make(chan error, 1)
	go func() {
		ended <- standin.Run(ctx, "demo", io.Discard, func(tb testing.TB) {
			d = &demo{tb: tb, screen: &Screen{Out: said}, patience: patience}
			d.Start, d.Quick = func(tb testing.TB) *cluster.Cluster { return cluster.Start(tb) }, true
			d.start()
			d.dead = d.world.Nodes(d.world.Zones[0])[0]
			d.world.SilenceNode(d.dead)
			d.run("kubectl taint node " + d.dead + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
			d.linger()
		})
	}()
	stays := func(context.Context) (bool, string) { return len(ended) == 0, said.String() }
	cluster.WaitWithin(t, patience, "the demo to be kept", func(ctx context.Context) (bool, string) {
		stayed, text := stays(ctx)
		return !stayed || strings.Contains(text, "waiting until you press Ctrl-C"), text
	})
	cluster.Holds(t, time.Second, "the demo stays", stays)
	require.Contains(t, said.String(), "export KUBECONFIG="+d.cluster.Kubeconfig()+"\nexport PATH="+d.shell.bin+":$PATH\n")
	require.NotContains(t, d.cluster.MustKubectl(t, "describe", "nodes"), "node.kubernetes.io/out-of-service")

	end()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(cluster.Patience):
		require.FailNow(t, "the demo was told to end", said.String())
	}
	require.NoDirExists(t, d.cluster.Dir())
}

// transcript is read while it is written.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
