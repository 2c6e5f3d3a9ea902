// SPDX-License-Identifier: Apache-2.0

// Package cluster starts a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler as they are, with
// TLS, RBAC, service account tokens, all admission plugins and an audit log.
// Only the kubelets and the disks are played: the former by kwok, the latter
// by a volume provisioner in this process.
//
// A test package shares one control plane between its tests:
//
//	var shared cluster.Shared
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		w := shared.Cluster(t).World(t)
//		...
//		w.LoseZone(w.Zones[0])
//	}
//
// Each test has a World of its own: a namespace, three zones that no other
// test knows, their nodes and their disks. So tests that break their nodes run
// in parallel. What breaks the control plane itself (StopScheduler,
// RestartAPIServer) is for tests that do not.
//
// Nothing here sleeps: Wait and its kin poll until a deadline and say what
// they waited for and what they saw last.
package cluster
