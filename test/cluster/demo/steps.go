// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/playground"
)

// step is a part of the demo.
type step struct {
	title string
	run   func(*demo)
	end   bool // it leaves nothing to play with
}

// steps in their order; each needs those before it.
var steps = []step{
	{title: "A control plane", run: (*demo).start},
	{title: "Install the webhook and the healer", run: (*demo).install},
	{title: "Apply a fleet: it grows as the scheduler finds places", run: (*demo).apply},
	{title: "Edit it by hand: refused", run: (*demo).edit},
	{title: "Grow to five members", run: (*demo).grow},
	{title: "Lose a disk", run: (*demo).loseDisk},
	{title: "Lose a node", run: (*demo).loseNode},
	{title: "Delete the fleet: what stays", run: (*demo).remove, end: true},
}

func (d *demo) start() {
	d.note("etcd, API server, controllers and scheduler are real. Kubelets and disks are played.")
	d.wait("Fleetwright is built, and a control plane with three zones runs", nil, func() (err error) {
		if d.cluster == nil {
			if d.cluster, err = cluster.Launch(d.ctx); err != nil {
				return err
			}
		}
		if d.world, err = playground.Open(d.ctx, d.cluster); err != nil {
			return err
		}
		if d.shell, err = newShell(d.ctx, d.cluster); err != nil {
			return err
		}
		return d.connect()
	})
	d.run("kubectl get nodes -L topology.kubernetes.io/zone")
}

func (d *demo) install() {
	d.note("As the Helm chart renders it. The programs of the image run as processes of this machine.")
	d.run("kubectl apply --server-side -f dist/install.yaml")
	d.run("kubectl -n fleetwright-system wait --for=condition=Available deployments --all --timeout=4m")
	d.run("kubectl create namespace fleets\nkubectl -n fleets create serviceaccount celld-runtime")
}

func (d *demo) apply() {
	d.run("fleetwright render examples/quickstart | kubectl apply --server-side -f -")
	d.until("three members run", ready(3))
}

func (d *demo) edit() {
	d.refused("kubectl -n fleets scale statefulset my-fleet --replicas=1")
	d.screen.say(line{})
	d.refused("kubectl -n fleets set image statefulset/my-fleet celld=celld:latest")
}

func (d *demo) grow() {
	d.run("sed 's/replicas: 3/replicas: 5/' examples/quickstart/fleet.yaml | fleetwright render - | kubectl apply --server-side -f -")
	d.until("five members run", ready(5))
}

func (d *demo) loseDisk() {
	lost := d.member(2)
	before := d.claim(lost.Name)
	d.note(fmt.Sprintf("Somebody deletes the volume of %s behind the cluster's back, and its container crashes.", lost.Name))
	d.check(d.cluster.Tell(d.ctx, client.ObjectKey{Namespace: namespace, Name: lost.Name}, cluster.Crashing))
	d.run(fmt.Sprintf("kubectl delete pv %[1]s --wait=false\nkubectl patch pv %[1]s --type=merge -p '{\"metadata\":{\"finalizers\":null}}'",
		before.Spec.VolumeName))
	d.until(lost.Name+" runs on a fresh disk", func(f *v1alpha1.PersistentFleet) bool {
		return ready(5)(f) && d.claim(lost.Name).UID != before.UID
	})
}

func (d *demo) loseNode() {
	lost := d.member(1)
	before := d.claim(lost.Name)
	d.note(fmt.Sprintf("The machine of %s, node %s, loses power. Its zone has another.", lost.Name, lost.Node))
	d.during("Kubernetes gives the node up", func() error { return d.world.Silence(d.ctx, lost.Node) })
	if d.Quick {
		d.note("Left alone, the healer would remove the Pod by force in two and a half minutes. Who knows that the node is off can say so:")
		d.run(fmt.Sprintf("kubectl taint node %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", lost.Node))
	} else {
		d.note("Nobody does anything. The healer removes the Pod by force two minutes after it should have ended.")
	}
	d.dead = lost.Node
	d.until(lost.Name+" runs on another node, on the disk that it had", func(f *v1alpha1.PersistentFleet) bool {
		return ready(5)(f) && find(f, lost.Name).Node != lost.Node && d.claim(lost.Name).UID == before.UID
	})
}

func (d *demo) remove() {
	d.run("fleetwright render examples/quickstart | kubectl delete --wait=false -f -")
	d.until("the fleet is gone", func(f *v1alpha1.PersistentFleet) bool { return f == nil })
	d.run("kubectl -n fleets get pods,pvc\nkubectl get storagereservations -o custom-columns=BUCKET:.spec.bucket,FLEET:.spec.fleet.name,IDENTITY:.spec.identity")
	d.note("Pods and disks are gone. The bucket stays with its data, and the record of its owner too.")
}

// linger leaves everything as it is until the demo is told to end.
func (d *demo) linger() {
	d.screen.headline("It is yours")
	d.began = time.Now()
	if d.dead != "" {
		d.during("the lost node is back", func() error { return d.world.Restore(d.ctx, d.dead) })
		if d.Quick {
			d.run("kubectl taint node " + d.dead + " node.kubernetes.io/out-of-service-")
		}
	}
	d.note("In another terminal, where kubectl and fleetwright are at hand then:")
	d.screen.verbatim("export KUBECONFIG="+d.cluster.Kubeconfig(), "export PATH="+d.shell.bin+":$PATH",
		"kubectl -n fleets get pfleet,pods,pvc")
	d.patience = 0
	d.until("you press Ctrl-C, which ends everything", func(*v1alpha1.PersistentFleet) bool { return false })
}

// note says something about what follows.
func (d *demo) note(t string) { d.screen.say(text(aside, "# "+t)) }

// ready tells a fleet whose members all run, as the healer saw it last.
func ready(n int32) func(*v1alpha1.PersistentFleet) bool {
	return func(f *v1alpha1.PersistentFleet) bool {
		return f != nil && f.Status.ObservedGeneration == f.Generation && f.Status.Phase == v1alpha1.PhaseReady &&
			f.Status.ReadyReplicas == n
	}
}

func find(f *v1alpha1.PersistentFleet, member string) v1alpha1.MemberStatus {
	for _, m := range f.Status.Members {
		if m.Name == member {
			return m
		}
	}
	return v1alpha1.MemberStatus{}
}

// member is one whose zone has so many members. With one, a node there is free.
func (d *demo) member(inZone int) v1alpha1.MemberStatus {
	fleet := d.look().fleet
	zones := map[string]int{}
	for _, m := range fleet.Status.Members {
		zones[m.Zone]++
	}
	for _, m := range fleet.Status.Members {
		if zones[m.Zone] == inZone {
			return m
		}
	}
	d.check(fmt.Errorf("five members in three zones, and no zone has %d", inZone))
	return v1alpha1.MemberStatus{}
}

// claim is that of a member, empty if there is none.
func (d *demo) claim(member string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: namespace, Name: "data-" + member}
	d.check(client.IgnoreNotFound(d.client.Get(d.ctx, key, claim)))
	return claim
}
