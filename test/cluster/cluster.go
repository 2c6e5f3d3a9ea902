// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster/binaries"
	"github.com/fleetwright/fleetwright/test/cluster/internal/disks"
	"github.com/fleetwright/fleetwright/test/cluster/internal/pki"
	"github.com/fleetwright/fleetwright/test/cluster/internal/process"
)

// KeepEnv names the variable that, when it is set, leaves the cluster up after
// the tests and prints its kubeconfig.
const KeepEnv = "FLEETWRIGHT_KEEP_CLUSTER"

// startTimeout bounds a start. A start takes a few seconds; the bound is for a
// machine that is busy with something else.
const startTimeout = 2 * time.Minute

// Cluster is a control plane that runs.
type Cluster struct {
	Config     *rest.Config         // of a cluster admin
	Client     client.Client        // with that; reads are not cached
	Kubernetes kubernetes.Interface // with that

	dir       string
	binary    string   // empty: not built, for an existing cluster
	existing  bool     // it is not this package's
	apiServer []string // flags beside the usual ones
	port      int
	keep      bool
	authority *pki.Authority
	disks     *disks.Provisioner
	stopDisks func()
	clientLog klog.Logger // of client libraries in this process
	startTook time.Duration
	worlds    atomic.Int64

	mu      sync.Mutex // guards what follows
	running map[string]*process.Process
	left    []selected // tests that were selected out

	// Of an existing cluster:
	zones map[string][]string          // nodes, by zone
	made  []*unstructured.Unstructured // what the tests created outside of namespaces; guarded too
}

// Start starts a control plane for this test alone and ends it with the test.
// Its API server gets more flags; feature gates among them are those of the
// controllers too. Most tests want Shared instead.
func Start(tb testing.TB, apiServer ...string) *Cluster {
	tb.Helper()
	(&Cluster{existing: os.Getenv(KubeconfigEnv) != ""}).Needs(tb, Programs)
	c, err := Launch(tb.Context(), apiServer...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if said := c.Stop(tb.Failed()); said != "" {
			tb.Log(said)
		}
	})
	return c
}

// Launch is Start where there is no test. Stop ends what it started.
func Launch(ctx context.Context, apiServer ...string) (*Cluster, error) {
	return launch(ctx, steps, apiServer...)
}

// step is a part of a start.
type step struct {
	name string
	run  func(*Cluster, context.Context) error
}

// steps are what has to be on disk, then the programs in the order in which
// they need each other.
var steps = []step{
	{"writing credentials", (*Cluster).writeCredentials},
	{"writing configuration", (*Cluster).writeConfig},
	{"etcd", (*Cluster).startEtcd},
	{"kube-apiserver", (*Cluster).startAPIServer},
	{"connecting", (*Cluster).connect},
	{"seeding", (*Cluster).seed},
	{"controllers", (*Cluster).startControllers},
	{"disks", (*Cluster).startDisks},
}

// launch takes steps of a start.
func launch(ctx context.Context, steps []step, apiServer ...string) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	started := time.Now()
	binary, err := binaries.ControlPlane.Find()
	if err != nil {
		return nil, err
	}
	c, err := newCluster(binary)
	if err != nil {
		return nil, err
	}
	c.apiServer = apiServer
	if err := c.take(ctx, steps); err != nil {
		c.end()
		return nil, fmt.Errorf("starting a control plane (logs in %s): %w", c.dir, err)
	}
	c.startTook = time.Since(started)
	return c, nil
}

func newCluster(binary string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "fleetwright-cluster-")
	if err != nil {
		return nil, err
	}
	return &Cluster{
		dir:       dir,
		binary:    binary,
		keep:      os.Getenv(KeepEnv) != "",
		stopDisks: func() {},
		running:   map[string]*process.Process{},
	}, nil
}

func (c *Cluster) take(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if err := step.run(c, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// Dir holds the cluster's logs, its audit log and its kubeconfigs.
func (c *Cluster) Dir() string { return c.dir }

// Binary is the path of the programs; its first argument says which.
func (c *Cluster) Binary() string { return c.binary }

// Kubeconfig is the path of a cluster admin's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "admin.kubeconfig") }

// ServicesSocket is where the API server asks, by HTTP CONNECT, for connections
// to addresses of the cluster, as those of webhooks behind Services. Nobody
// answers unless a test sees to it.
func (c *Cluster) ServicesSocket() string { return filepath.Join(c.dir, "services.sock") }

// Stop ends the cluster and says what is left of it: everything when it is to
// be kept, the logs after a failure, else nothing.
func (c *Cluster) Stop(failed bool) string {
	if c.existing {
		return c.leave(failed)
	}
	if c.keep {
		c.stopDisks()
		return fmt.Sprintf("the cluster is left up (its disks are not provisioned any more):\n"+
			"  export KUBECONFIG=%s\n  to end it: kill -KILL $(cat %s) && rm -r %s", c.Kubeconfig(), c.pidFile(), c.dir)
	}
	c.end()
	if failed {
		_ = os.RemoveAll(c.etcdDir())
		return "the logs of the control plane are in " + c.dir
	}
	_ = os.RemoveAll(c.dir)
	return ""
}

// end ends every program. It is the way out of a failed start too.
func (c *Cluster) end() {
	c.stopDisks()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.running {
		_ = p.Kill(ctx) // its lifeline ends it all the same
	}
}

// checkAlive reports programs that ended by themselves, once for each test
// that had to do without them.
func (c *Cluster) checkAlive(tb testing.TB) {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.running {
		if err := p.Failure(); err != nil {
			tb.Error(err)
		}
	}
}
