// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// Kept, the nodes are all there, everything runs until the demo is told to end,
// and then nothing is left.
func TestLinger(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	said := &transcript{}
	d := &demo{ctx: ctx, screen: &Screen{Out: said}, patience: patience, Options: Options{Until: Steps(), Quick: true, Keep: true}}
	loseNode := func(d *demo) {
		d.dead = d.world.Nodes(d.world.Zones[0])[0]
		d.check(d.world.Silence(ctx, d.dead))
		d.run("kubectl taint node " + d.dead + " node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
	}
	ended := make(chan error, 1)
	go func() {
		err := d.play([]step{{title: "Start", run: (*demo).start}, {title: "Lose a node", run: loseNode}})
		ended <- errors.Join(err, d.close(err))
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
