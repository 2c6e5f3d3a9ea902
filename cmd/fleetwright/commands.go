// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/krm"
	"github.com/fleetwright/fleetwright/internal/version"
)

func (a *app) validateCommand() *cobra.Command {
	var f inputFlags
	cmd := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Check fleets and print every error",
		Long: `Validate reads as render does and prints every error at once, as file:line:column: field: message.
It prints one line for each fleet when all of them are valid.`,
		Example: `  fleetwright validate fleets/ -n fleets
  kustomize build overlays/production | fleetwright validate -`,
		RunE: func(_ *cobra.Command, paths []string) error {
			a.checks = true
			set, err := a.read(paths, &f)
			if err != nil {
				return err
			}
			var b strings.Builder
			for i := range set.Documents {
				if doc := &set.Documents[i]; doc.Fleet != nil {
					fmt.Fprintf(&b, "%s: %s is valid\n", doc.File, doc.ID)
				}
			}
			_, err = fmt.Fprint(a.out, b.String())
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func (a *app) fnCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function: a ResourceList on stdin and stdout",
		Long: `Fn reads a ResourceList from the standard input and writes it back with the objects of every fleet in it.

As a generator its functionConfig is the fleet itself. As a transformer it renders the fleets among the items,
and its functionConfig may be a ConfigMap whose data holds namespace and healerNamespace. Objects that an
earlier run rendered are replaced; other items, comments and their order stay. Problems are printed to the
standard error and listed in the results.`,
		Example: `  # kustomization.yaml, built with: kustomize build --enable-alpha-plugins --enable-exec
  transformers:
  - |-
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: fleetwright
      annotations:
        config.kubernetes.io/function: |
          exec:
            path: ./fleetwright-fn`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			problems, warnings, err := krm.Run(a.in, a.out)
			a.printProblems("warning", warnings)
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				return problems
			}
			return nil
		},
	}
}

// linked is the version, set by the linker in a release.
var linked string

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  fleetwright version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, version.Line("fleetwright", linked))
			return err
		},
	}
}
