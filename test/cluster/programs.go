// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetwright/fleetwright/test/cluster/internal/process"
)

// run starts a program in the cluster's directory and remembers it.
func (c *Cluster) run(name string, args []string) (*process.Process, error) {
	p, err := process.Start(process.Spec{
		Name:     name,
		Path:     c.binary,
		Args:     append([]string{name}, args...),
		Dir:      c.dir,
		Log:      filepath.Join(c.dir, name+".log"),
		Scratch:  c.etcdDir(),
		Detached: c.keep,
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[name] = p
	return p, c.writePids()
}

// halt ends a program as a crash would.
func (c *Cluster) halt(ctx context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.running[name]
	if p == nil {
		return fmt.Errorf("%s does not run", name)
	}
	if err := p.Kill(ctx); err != nil {
		return err
	}
	delete(c.running, name)
	return c.writePids()
}

func (c *Cluster) pidFile() string { return filepath.Join(c.dir, "pids") }
func (c *Cluster) etcdDir() string { return filepath.Join(c.dir, "etcd") }

func (c *Cluster) writePids() error {
	var pids strings.Builder
	for _, p := range c.running {
		fmt.Fprintln(&pids, p.Pid())
	}
	return os.WriteFile(c.pidFile(), []byte(pids.String()), 0o644)
}

func (c *Cluster) startEtcd(context.Context) error {
	_, err := c.run("etcd", etcdFlags())
	return err
}

// startAPIServer starts kube-apiserver on a port that is free now. Somebody
// else can take it before the server does; then it is another port's turn.
func (c *Cluster) startAPIServer(ctx context.Context) error {
	var err error
	for range 5 {
		if c.port, err = FreePort(ctx); err != nil {
			return err
		}
		if err = c.runAPIServer(ctx); err == nil || !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

var errPortTaken = errors.New("somebody else took the port")

// FreePort returns a port of the loopback address that nobody listens on.
func FreePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// runAPIServer starts kube-apiserver and waits until it is ready.
func (c *Cluster) runAPIServer(ctx context.Context) error {
	p, err := c.run("kube-apiserver", append(apiServerFlags(c.port), c.apiServer...))
	if err != nil {
		return err
	}
	config, err := c.configFor("readiness", "system:masters")
	if err != nil {
		return err
	}
	probe, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	seen := "nothing"
	for {
		select {
		case <-p.Done():
			err := p.Failure()
			if strings.Contains(err.Error(), "address already in use") {
				return errors.Join(errPortTaken, err)
			}
			return err
		case <-ctx.Done():
			return fmt.Errorf("waiting for kube-apiserver to be ready, last seen: %s: %w", seen, ctx.Err())
		case <-tick.C:
			if seen = readyz(ctx, probe, config.Host); seen == "ready" {
				return nil
			}
		}
	}
}

func readyz(ctx context.Context, probe *http.Client, host string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	response, err := probe.Do(request)
	if err != nil {
		return err.Error()
	}
	_ = response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return "ready"
	}
	return response.Status
}

// startControllers starts everything that works through the API server. None
// of them is waited for: what they do is, where it is needed.
func (c *Cluster) startControllers(context.Context) error {
	for name, user := range programUsers {
		if err := c.writeKubeconfig(name, user); err != nil {
			return err
		}
		if err := c.startController(name); err != nil {
			return err
		}
	}
	return nil
}

// startController starts one of them.
func (c *Cluster) startController(name string) error {
	flags := slices.Clone(controllerFlags[name])
	if name == "kube-controller-manager" {
		for _, flag := range c.apiServer {
			if strings.HasPrefix(flag, "--feature-gates=") {
				flags = append(flags, flag)
			}
		}
	}
	_, err := c.run(name, flags)
	return err
}
