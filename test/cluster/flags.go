// SPDX-License-Identifier: Apache-2.0

package cluster

import "strconv"

// Paths in flags are relative to the cluster's directory, in which every
// program runs. Every flag that is not about places and credentials says why
// it differs from the default.

// etcdFlags: etcd speaks on Unix sockets in a directory that only this user
// can enter, so it needs no ports and no TLS.
func etcdFlags() []string {
	const client, peer = "unix://etcd.sock:0", "unix://etcd-peer.sock:0" // it insists on a port
	return []string{
		"--name=test",
		"--data-dir=etcd",
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=test=" + peer,
		"--unsafe-no-fsync", // nothing here has to survive the machine
		"--log-level=warn",
	}
}

func apiServerFlags(port int) []string {
	return []string{
		"--etcd-servers=unix://etcd.sock:0",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // it refuses to publish a loopback address
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=apiserver.crt",
		"--tls-private-key-file=apiserver.key",
		"--client-ca-file=ca.crt",
		"--requestheader-client-ca-file=front-proxy-ca.crt",
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=front-proxy.crt",
		"--proxy-client-key-file=front-proxy.key",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=service-account.pub",
		"--service-account-signing-key-file=service-account.key",
		"--anonymous-auth=false",
		"--authorization-mode=Node,RBAC",
		// On top of the default ones. The second is what some distributions
		// turn on; owner references have to do without what it forbids.
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--egress-selector-config-file=egress.yaml", // no route leads to addresses of the cluster
		"--audit-policy-file=audit-policy.yaml",
		"--audit-log-path=audit.log",
		"--audit-log-mode=blocking", // a request is in the log when its answer arrives
		// Pods leave a lost node after seconds instead of five minutes.
		"--default-not-ready-toleration-seconds=3",
		"--default-unreachable-toleration-seconds=3",
	}
}

// controllerFlags are those of the programs that work through the API server.
var controllerFlags = map[string][]string{
	"kube-controller-manager": {
		"--kubeconfig=kube-controller-manager.kubeconfig",
		"--secure-port=0", // nobody reads its metrics
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=service-account.key",
		"--root-ca-file=ca.crt",
		"--cluster-signing-cert-file=ca.crt",
		"--cluster-signing-key-file=ca.key",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		// A silent node is noticed after 8 seconds instead of 50. Its lease is
		// renewed every second: a busy machine may miss seven.
		"--node-monitor-period=1s",
		"--node-monitor-grace-period=8s",
		"--node-startup-grace-period=20s",
		// By default one node in ten seconds is given up.
		"--node-eviction-rate=10",
		"--secondary-node-eviction-rate=10",
	},
	"kube-scheduler": {
		"--config=scheduler.yaml",
		"--secure-port=0",
	},
	"kwok": {
		"--config=stages.yaml",
		"--kubeconfig=kwok.kubeconfig",
		"--manage-nodes-with-label-selector=" + kubeletLabel + "=" + kubeletRunning,
		"--node-lease-duration-seconds=4", // kwok renews at a quarter of it
		"--cidr=10.244.0.0/16",
		"--node-ip=127.0.0.1",
	},
}
