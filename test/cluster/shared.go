// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Shared is one cluster for all tests of a package, started by the first that
// asks for it. The zero value is ready.
type Shared struct {
	// Check is done when all tests of the package ran and passed on a cluster
	// with an audit log, if not nil.
	Check func(*Cluster) error
	// Needs are capabilities without which no test of the package runs.
	Needs []Capability

	once    sync.Once
	cluster *Cluster
	err     error
	failed  atomic.Bool
}

// parallel is how many tests run at a time unless -parallel says otherwise.
// They wait far more than they compute, so it is not the number of cores.
const parallel = 8

// Main runs the tests and ends the cluster, if there is one. It returns the
// code to exit with.
func (s *Shared) Main(m *testing.M) int {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	started := time.Now()
	code := m.Run()
	if s.cluster != nil {
		if err := s.cluster.tellMeasures(time.Since(started)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		fmt.Fprint(os.Stderr, s.cluster.tellLeft())
		whole := flag.Lookup("test.run").Value.String()+flag.Lookup("test.skip").Value.String() == ""
		if s.Check != nil && code == 0 && !s.cluster.existing && whole {
			if err := s.Check(s.cluster); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		if said := s.cluster.Stop(s.failed.Load()); said != "" {
			fmt.Fprintln(os.Stderr, said)
			if s.cluster.existing && !s.cluster.keep {
				code = max(code, 1)
			}
		}
	}
	return code
}

// Cluster returns the cluster: a control plane of this package, or the existing
// one that $FLEETWRIGHT_KUBECONFIG says. A test that fails says where its logs are.
func (s *Shared) Cluster(tb testing.TB) *Cluster {
	tb.Helper()
	s.once.Do(func() {
		if os.Getenv(KubeconfigEnv) != "" {
			s.cluster, s.err = attach(context.Background())
		} else {
			s.cluster, s.err = launch(context.Background(), steps)
		}
		if s.err == nil {
			// Client libraries complain of every fault that a test makes.
			klog.SetLogger(s.cluster.clientLog)
			log.SetLogger(s.cluster.clientLog)
		}
	})
	if s.err != nil {
		tb.Fatal(s.err)
	}
	for _, capability := range s.Needs {
		s.cluster.Needs(tb, capability)
	}
	tb.Cleanup(func() {
		s.cluster.checkAlive(tb)
		if tb.Failed() {
			s.failed.Store(true)
			tb.Log("the logs of the control plane are in ", s.cluster.dir)
		}
	})
	return s.cluster
}
