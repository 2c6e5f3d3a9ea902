// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

// runKubectl does what kubectl's own main does with errors: it has messages of
// its own for them, and a code.
func runKubectl() int {
	kubectlutil.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand())) // exits by itself when it fails
	return 0
}
