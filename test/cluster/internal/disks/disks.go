// SPDX-License-Identifier: Apache-2.0

// Package disks plays a cloud's zonal block storage: a volume is made in the
// zone of the node that the scheduler chose and can be used in that zone only.
// There is nothing behind a volume but its object.
package disks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Driver is the provisioner's name, in storage classes and volumes.
const Driver = "zonal.disks.fleetwright.test"

// Provisioner makes and removes volumes.
type Provisioner struct {
	api kubernetes.Interface

	mu     sync.Mutex
	faults map[string]fault // by the claim's namespace
}

// fault is what happens to new volumes of a namespace.
type fault struct {
	err  error           // refused with this
	held <-chan struct{} // or not ready before this is closed
}

var _ controller.Provisioner = (*Provisioner)(nil)

// New makes a provisioner without faults.
func New(api kubernetes.Interface) *Provisioner {
	return &Provisioner{api: api, faults: map[string]fault{}}
}

// Run works until the returned function is called, which waits for the end.
// What it does goes to the log.
func (p *Provisioner) Run(logger klog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	runner := controller.NewProvisionController(ctx, p.api, Driver, p,
		controller.LeaderElection(false),
		controller.Threadiness(32), // a held volume holds a thread
		controller.AddFinalizer(true),
		controller.RateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Second)),
		controller.FailedProvisionThreshold(0), // try for ever, as CSI's does
		controller.FailedDeleteThreshold(0),
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runner.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// Provision makes a volume in the zone of the node that was chosen.
func (p *Provisioner) Provision(
	ctx context.Context, o controller.ProvisionOptions,
) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if err := p.await(ctx, o.PVC.Namespace); err != nil {
		return nil, controller.ProvisioningReschedule, err // as CSI's does where storage is exhausted
	}
	zone, state, err := p.zone(ctx, o.SelectedNodeName)
	if err != nil {
		return nil, state, err
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			VolumeMode:                    o.PVC.Spec.VolumeMode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: zone + "/" + o.PVName},
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone},
					}},
				}},
			}},
		},
	}, controller.ProvisioningFinished, nil
}

// zone is where a volume for a node belongs. For a node that is no more the
// scheduler is asked to choose another.
func (p *Provisioner) zone(ctx context.Context, name string) (string, controller.ProvisioningState, error) {
	if name == "" {
		return "", controller.ProvisioningFinished,
			errors.New("no node is chosen: a zonal disk needs volumeBindingMode WaitForFirstConsumer")
	}
	node, err := p.api.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", controller.ProvisioningReschedule, err
	} else if err != nil {
		return "", controller.ProvisioningFinished, err
	}
	if zone := node.Labels[corev1.LabelTopologyZone]; zone != "" {
		return zone, "", nil
	}
	return "", controller.ProvisioningFinished, fmt.Errorf("node %s has no zone", name)
}

// Delete removes what is behind a volume: nothing.
func (p *Provisioner) Delete(context.Context, *corev1.PersistentVolume) error { return nil }

// await meets the namespace's fault, if it has one.
func (p *Provisioner) await(ctx context.Context, namespace string) error {
	p.mu.Lock()
	met := p.faults[namespace]
	p.mu.Unlock()
	if met.held == nil {
		return met.err
	}
	select {
	case <-met.held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Hold makes new volumes of a namespace wait until the returned function is
// called. It may be called more than once.
func (p *Provisioner) Hold(namespace string) (release func()) {
	held := make(chan struct{})
	p.set(namespace, fault{held: held})
	return sync.OnceFunc(func() {
		p.set(namespace, fault{})
		close(held)
	})
}

// Fail refuses new volumes of a namespace until the returned function is
// called.
func (p *Provisioner) Fail(namespace string, err error) (heal func()) {
	p.set(namespace, fault{err: err})
	return func() { p.set(namespace, fault{}) }
}

func (p *Provisioner) set(namespace string, f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == (fault{}) {
		delete(p.faults, namespace)
		return
	}
	p.faults[namespace] = f
}
