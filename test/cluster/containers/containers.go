// SPDX-License-Identifier: Apache-2.0

// Package containers runs the Pods of the project's own image on a test control
// plane: each as a process of this machine, with the arguments of its container,
// the rights of its service account and the readiness that it reports. Their
// Services answer too. So what a manifest, a chart or a sync tool installs works.
//
// A Pod whose command is /fleetwright-NAME runs what cmd/fleetwright-NAME is
// built to. Its ports are free ones of the loopback address, handed to it by
// flags; addresses of the cluster lead there for the API server, and for nobody
// else.
package containers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// portFlags are what a program is told for each named port of its container.
var portFlags = map[string]string{
	"webhook": "--port=%s",
	"metrics": "--metrics-bind-address=127.0.0.1:%s",
	"probes":  "--health-probe-bind-address=127.0.0.1:%s",
}

// Run runs them for as long as this process lives; it returns when Pods of the
// project can be created. One call for each cluster.
func Run(tb testing.TB, c *cluster.Cluster) {
	tb.Helper()
	c.Needs(tb, cluster.Nodes)
	if err := Serve(tb.Context(), c); err != nil {
		tb.Fatal(err)
	}
}

// Serve is Run where there is no test.
func Serve(ctx context.Context, c *cluster.Cluster) error {
	k := &kubelet{c: c, binaries: map[string]string{}, pods: map[types.UID]*container{}, starts: make(chan start)}
	for _, name := range []string{"fleetwright-healer", "fleetwright-webhook"} {
		binary, err := program.BuildIn(ctx, c.Dir(), name)
		if err != nil {
			return err
		}
		k.binaries["/"+name] = binary
	}
	go k.startAll()
	if err := k.serveServices(ctx); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(c.Kubernetes, 0)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { k.see(pod.(*corev1.Pod)) },
		UpdateFunc: func(_, pod any) { k.see(pod.(*corev1.Pod)) },
		DeleteFunc: func(pod any) {
			if final, ok := pod.(cache.DeletedFinalStateUnknown); ok {
				pod = final.Obj
			}
			k.end(pod.(*corev1.Pod))
		},
	}
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(handler); err != nil {
		return err
	}
	factory.StartWithContext(context.Background())
	factory.WaitForCacheSync(ctx.Done())
	return ctx.Err()
}

// kubelet is what there is of one here.
type kubelet struct {
	c        *cluster.Cluster
	binaries map[string]string // by command
	starts   chan start

	mu   sync.Mutex
	pods map[types.UID]*container
}

// container is the one of a Pod, from its start until its Pod is gone.
type container struct {
	pod     *corev1.Pod
	ports   map[string]string // by name
	ready   bool
	ending  chan struct{} // closed when the Pod is deleted
	dismiss func()        // closes it, once
}

// see starts a Pod once it has its address, and ends it once it is deleted.
func (k *kubelet) see(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		k.end(pod)
		return
	}
	command := pod.Spec.Containers[0].Command
	if pod.Status.PodIP == "" || len(command) != 1 || k.binaries[command[0]] == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[pod.UID] != nil {
		return
	}
	ending := make(chan struct{})
	ct := &container{pod: pod, ports: map[string]string{}, ending: ending, dismiss: sync.OnceFunc(func() { close(ending) })}
	k.pods[pod.UID] = ct
	go k.keep(ct)
}

func (k *kubelet) end(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ct := k.pods[pod.UID]; ct != nil {
		ct.dismiss()
		delete(k.pods, pod.UID)
	}
}

// keep runs a container, again after a second whenever it ends by itself.
func (k *kubelet) keep(ct *container) {
	for {
		if err := k.run(ct); err != nil {
			k.log(ct, err)
		}
		k.tellReady(ct, false)
		select {
		case <-ct.ending:
			return
		case <-time.After(time.Second):
		}
	}
}

// log says beside the container's own words what went wrong.
func (k *kubelet) log(ct *container, err error) {
	if f, failed := os.OpenFile(Log(k.c, ct.pod), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); failed == nil {
		fmt.Fprintln(f, "container:", err)
		_ = f.Close()
	}
}

// Log is the file that holds what a Pod's container wrote.
func Log(c *cluster.Cluster, pod *corev1.Pod) string { return filepath.Join(c.Dir(), pod.Name+".log") }

// run runs a container once, until it ends or its Pod is deleted.
func (k *kubelet) run(ct *container) error {
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	pod, spec := ct.pod, &ct.pod.Spec.Containers[0]
	config, err := k.c.ServiceAccount(ctx, pod.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(k.c.Dir(), pod.Name+".kubeconfig")
	if err := program.WriteKubeconfig(config, kubeconfig); err != nil {
		return err
	}
	args := slices.Clone(spec.Args)
	for _, port := range spec.Ports {
		free, err := cluster.FreePort(ctx)
		if err != nil {
			return err
		}
		k.mu.Lock()
		ct.ports[port.Name] = strconv.Itoa(free)
		k.mu.Unlock()
		args = append(args, fmt.Sprintf(portFlags[port.Name], ct.ports[port.Name]))
	}
	if slices.Contains(args, "--leader-elect") {
		// A file of the Pod tells the namespace. A healer that has just begun replaces nothing for one delay, and no test waits ten
		// minutes for that.
		args = append(args, "--leader-election-namespace="+pod.Namespace, "--member-replacement-delay=1m")
	}
	log, err := os.OpenFile(Log(k.c, pod), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(k.binaries[spec.Command[0]], args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = log, log
	if err := k.start(cmd); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return k.watch(ct, cmd, ended)
}

// watch tells the readiness of a container until it has ended.
func (k *kubelet) watch(ct *container, cmd *exec.Cmd, ended <-chan error) error {
	probe := ct.pod.Spec.Containers[0].ReadinessProbe.HTTPGet.Path
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	ending, kill := ct.ending, (<-chan time.Time)(nil)
	for {
		select {
		case err := <-ended:
			return err
		case <-ending:
			ending = nil
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				return err
			}
			kill = time.After(time.Duration(*ct.pod.Spec.TerminationGracePeriodSeconds) * time.Second)
		case <-kill:
			_ = cmd.Process.Kill()
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			status, _ := program.Get(ctx, "127.0.0.1:"+ct.ports["probes"], probe)
			cancel()
			k.tellReady(ct, status == http.StatusOK)
		}
	}
}

// tellReady has the played kubelet say whether a Pod is ready.
func (k *kubelet) tellReady(ct *container, ready bool) {
	k.mu.Lock()
	changed := ct.ready != ready
	ct.ready = ready
	k.mu.Unlock()
	if !changed {
		return
	}
	behaviour := cluster.Unready
	if ready {
		behaviour = cluster.Ready
	}
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	if err := k.c.Tell(ctx, client.ObjectKeyFromObject(ct.pod), behaviour); client.IgnoreNotFound(err) != nil {
		k.log(ct, err)
	}
}

// start is a command to start, and where to say how that went.
type start struct {
	cmd    *exec.Cmd
	failed chan error
}

func (k *kubelet) start(cmd *exec.Cmd) error {
	// They end with this process. The kernel does that when the thread ends
	// that started them, hence one thread for all.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	s := start{cmd: cmd, failed: make(chan error)}
	k.starts <- s
	return <-s.failed
}

func (k *kubelet) startAll() {
	runtime.LockOSThread()
	for s := range k.starts {
		s.failed <- s.cmd.Start()
	}
}
