// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/internal/effects"
	"github.com/fleetwright/fleetwright/render"
)

// errRefused is returned for a change that a cluster would refuse; the reasons are printed already.
var errRefused = errors.New("a cluster refuses this change")

func (a *app) planCommand() *cobra.Command {
	f := inputFlags{allowEmpty: true}
	cmd := &cobra.Command{
		Use:   "plan OLD NEW",
		Short: "Tell what a change of fleets does to members that run",
		Long: `Plan compares two states of fleets, each a PATH as of render, and prints what applying the second one after
the first does to members: restarts, members that are added or removed, disks that go, and what a cluster
refuses. It reads no cluster, so it does not see members that are down, and not which of it waits for what.
The replacement delay that it speaks of is the healer's flag, ` + rules.DefaultReplacementDelay.String() + ` by default.

Exit codes: 0 nothing is refused, 1 something is, or the input is wrong.`,
		Example: `  # What a pull request does
  git worktree add ../base origin/main
  fleetwright plan ../base/fleets fleets

  # What an edit does
  git show HEAD:fleet.yaml | fleetwright plan - fleet.yaml`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, paths []string) error {
			if paths[0] == "-" && paths[1] == "-" {
				return usageError{"only one of OLD and NEW can be '-', the standard input"}
			}
			a.checks = true
			return a.plan(paths[0], paths[1], &f)
		},
	}
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of fleets that name none")
	f.registerRecursive(cmd)
	return cmd
}

func (a *app) plan(before, after string, f *inputFlags) error {
	was := *f
	was.aboveCap = true
	var old []v1alpha1.Fleet
	var err error
	if there(before) { // else the change brings the whole path with it
		old, err = a.fleets(before, &was)
	}
	if err != nil {
		return err
	}
	now, err := a.fleets(after, f)
	if err != nil {
		return err
	}
	changes, err := effects.Of(old, now, render.Options{})
	if err != nil {
		return err
	}
	var b strings.Builder
	refused := false
	for i := range changes {
		c := &changes[i]
		if len(c.Effects) == 0 {
			continue
		}
		refused = refused || c.Refused()
		fmt.Fprintf(&b, "%s\n", c)
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, e := range c.Effects {
			_, _ = fmt.Fprintf(table, "  %s\t%s\n", e.Verb, e.Text) // a Builder takes everything
		}
		_ = table.Flush()
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "nothing changes for the members of %s\n", count(len(changes), "fleet"))
	}
	if _, err := fmt.Fprint(a.out, b.String()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if refused {
		return errRefused
	}
	return nil
}

// there says whether OLD is there.
func there(path string) bool {
	_, err := os.Lstat(path)
	return path == "-" || !errors.Is(err, fs.ErrNotExist)
}

// fleets reads the fleets of a PATH.
func (a *app) fleets(path string, f *inputFlags) ([]v1alpha1.Fleet, error) {
	set, err := a.read([]string{path}, f)
	if err != nil {
		return nil, err
	}
	var fleets []v1alpha1.Fleet
	for i := range set.Documents {
		if fleet := set.Documents[i].Fleet; fleet != nil {
			fleet.Default()
			fleets = append(fleets, fleet)
		}
	}
	return fleets, nil
}
