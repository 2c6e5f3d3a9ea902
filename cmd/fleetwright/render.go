// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

type renderFlags struct {
	inputFlags
	dir             string
	check           bool
	healerNamespace string
}

func (a *app) renderCommand() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render [PATH...]",
		Short: "Print the Kubernetes objects of fleets",
		Long: `Render prints every object of the input as YAML: fleets followed by the objects that run them, and other
objects as they are. A PATH is a file, a directory (its .yaml, .yml and .json files, but hidden ones), a
directory with a kustomization, which is built first, or '-' for the standard input. Without a PATH it is the
current directory.

Warnings and errors go to the standard error, one a line, as file:line:column: field: message.`,
		Example: `  # What a fleet needs, applied by hand
  fleetwright render fleet.yaml | kubectl apply --server-side -f -

  # A kustomize overlay, kept rendered in Git, one file for each object
  fleetwright render overlays/production -o rendered/production

  # In CI: fail when somebody forgot to render
  fleetwright render overlays/production -o rendered/production --check

  # Another tool's output
  helm template my-chart | fleetwright render - -n fleets`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := checkOutputDir(f.dir, cmd.Flags().Changed("output-dir")); err != nil {
				return err
			}
			p, err := a.parameters()
			if err != nil {
				return err
			}
			if p.healerNamespace != "" && !cmd.Flags().Changed("healer-namespace") {
				f.healerNamespace = p.healerNamespace
			}
			return a.render(paths, &f)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVarP(&f.dir, "output-dir", "o", "", "write one file for each object and a kustomization.yaml to this directory, and remove stale files")
	cmd.Flags().BoolVar(&f.check, "check", false, "with --output-dir: write nothing, print the difference and exit 1 if the directory is stale")
	cmd.Flags().StringVar(&f.healerNamespace, "healer-namespace", render.DefaultHealerNamespace, "namespace of the healer, which each NetworkPolicy admits")
	_ = cmd.MarkFlagDirname("output-dir") // fails for an unknown flag only
	return cmd
}

// checkOutputDir refuses what other commands take for a format after -o.
func checkOutputDir(dir string, given bool) error {
	switch {
	case given && dir == "":
		return usageError{"--output-dir is empty: name a directory"}
	case slices.Contains([]string{"yaml", "json", "name", "wide", "-"}, dir):
		return usageError{fmt.Sprintf("--output-dir %s: names a directory, not a format: leave it out for YAML on the standard output, "+
			"or write ./%[1]s for a directory of that name", dir)}
	}
	return nil
}

func (a *app) render(paths []string, f *renderFlags) error {
	if f.check && f.dir == "" {
		return usageError{"--check needs --output-dir: the directory to check"}
	}
	if err := checkNamespace("--healer-namespace", f.healerNamespace); err != nil {
		return err
	}
	if err := outsideInput(f.dir, paths); err != nil {
		return err
	}
	set, err := a.read(paths, &f.inputFlags)
	if err != nil {
		return err
	}
	opts := render.Options{HealerNamespace: f.healerNamespace}
	if f.dir == "" {
		warnings, err := output.Stream(a.out, set, opts)
		a.printProblems("warning", warnings)
		return err
	}
	files, warnings, err := output.NewFiles(set, opts)
	if err != nil {
		return err
	}
	a.printProblems("warning", warnings)
	if f.check {
		return a.check(files, f.dir)
	}
	changed, err := files.Write(f.dir)
	if err == nil {
		a.printf("%s: %s, %s changed\n", f.dir, count(set.Fleets(), "fleet"), count(changed, "file"))
	}
	return err
}

func (a *app) check(files *output.Files, dir string) error {
	difference, err := files.Check(dir)
	if err != nil {
		return err
	}
	if difference == "" {
		return nil
	}
	if _, err := fmt.Fprint(a.out, difference); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return errStale
}

// outsideInput refuses to write rendered objects where fleets are read from: the next run would read them as well.
func outsideInput(dir string, paths []string) error {
	if dir == "" {
		return nil
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		if path != "-" && sameFile(dir, path) {
			return source.Problems{{File: dir, Message: "is where fleets are read from: render to a directory of its own"}}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
