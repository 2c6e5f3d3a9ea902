// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The verbs here break what all tests of the package share. Use them in tests
// that are not parallel.

// StopScheduler stops kube-scheduler, as a crash does. The returned function
// starts it again; the end of the test does too.
func (c *Cluster) StopScheduler(tb testing.TB) (start func()) {
	tb.Helper()
	return c.outage(tb, "kube-scheduler")
}

// StopControllers stops kube-controller-manager likewise.
func (c *Cluster) StopControllers(tb testing.TB) (start func()) {
	tb.Helper()
	return c.outage(tb, "kube-controller-manager")
}

func (c *Cluster) outage(tb testing.TB, name string) (start func()) {
	tb.Helper()
	c.Needs(tb, Programs)
	if err := c.halt(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	started := false
	start = func() {
		if started {
			return
		}
		started = true
		if err := c.startController(name); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(start)
	return start
}

// RestartAPIServer ends kube-apiserver, as a crash does, and starts it again.
// It returns once the server is ready and kube-scheduler follows it again;
// every connection was cut. (What a scheduler of 1.36 misses in between can end
// it: it takes a Pod that has a deleted Pod's name for that Pod on another node.)
func (c *Cluster) RestartAPIServer(tb testing.TB) {
	tb.Helper()
	c.Needs(tb, Programs)
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	if err := c.halt(ctx, "kube-apiserver"); err != nil {
		tb.Fatal(err)
	}
	if err := c.runAPIServer(ctx); err != nil {
		tb.Fatal(err)
	}
	c.awaitScheduler(tb)
}

// awaitScheduler returns once kube-scheduler sees new Pods: it says of one that
// fits no node that it fits none.
func (c *Cluster) awaitScheduler(tb testing.TB) {
	tb.Helper()
	pods := c.Kubernetes.CoreV1().Pods(metav1.NamespaceDefault)
	no := false
	probe, err := pods.Create(tb.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "fits-nowhere-"},
		Spec: corev1.PodSpec{
			Containers:                   []corev1.Container{{Name: "none", Image: "registry.test/none:1"}},
			NodeSelector:                 map[string]string{"fleetwright.test/node": "none"},
			AutomountServiceAccountToken: &no,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	Wait(tb, "kube-scheduler to follow the API server", func(ctx context.Context) (bool, string) {
		pod, err := pods.Get(ctx, probe.Name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(pod.Status.Conditions) > 0, "nothing said of Pod " + pod.Name
	})
	if err := pods.Delete(tb.Context(), probe.Name, metav1.DeleteOptions{}); err != nil {
		tb.Fatal(err)
	}
}
