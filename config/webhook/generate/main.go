// SPDX-License-Identifier: Apache-2.0

// Command generate writes the ValidatingWebhookConfiguration of the webhook into a directory: generate DIR.
package main

import (
	"errors"
	"log"
	"os"
	"path/filepath"

	"github.com/fleetwright/fleetwright/webhook/registration"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func generate(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: generate DIR")
	}
	text, err := registration.YAML(registration.DefaultNamespace)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "configuration.yaml"), text, 0o644)
}
