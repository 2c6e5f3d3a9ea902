// SPDX-License-Identifier: Apache-2.0

// Command controlplane is every program of the test control plane, and
// kubectl, in one binary, because they share nearly all of their code: linking it once takes a
// third of the time and disk that five programs take. The first argument
// chooses the program, the rest are that program's own:
//
//	controlplane kube-apiserver --etcd-servers=...
//
// A program that was handed a lifeline ends when the lifeline does: see
// holdLifeline.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// programs maps the first argument to the program, which returns its exit code.
var programs = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubectl":                 runKubectl,
	"kwok":                    runKwok,
}

func main() {
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: controlplane (%s) [flags]\n", strings.Join(names(), " | "))
		os.Exit(2)
	}
	if err := holdLifeline(); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(2)
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	os.Exit(programs[name]())
}

func names() []string {
	var all []string
	for name := range programs {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func runEtcd() int {
	etcdmain.Main(os.Args) // exits by itself when it fails
	return 0
}
