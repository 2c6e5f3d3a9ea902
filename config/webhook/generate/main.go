// SPDX-License-Identifier: Apache-2.0

// Command generate writes the ValidatingWebhookConfiguration of the webhook into a directory: generate DIR.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fleetwright/fleetwright/webhook/registration"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIR")
		os.Exit(2)
	}
	text, err := registration.YAML(registration.DefaultNamespace)
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[1], "configuration.yaml"), text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
