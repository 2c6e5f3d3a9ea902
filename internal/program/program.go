// SPDX-License-Identifier: Apache-2.0

// Package program is the skeleton of the three programs: how a command line is run, its version, and its exit code. It links no
// client, because the command that renders starts once for each render.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/version"
)

// Exit codes. Commands with more to say have others.
const (
	ExitOK    = 0
	ExitUsage = 2 // the command line is wrong
	ExitOther = 3 // anything else, such as a full disk or a lost lease
)

// A UsageError is a command line that makes no sense.
type UsageError struct{ Err error }

// Error says what is wrong with it.
func (e UsageError) Error() string { return e.Err.Error() }

// Execute runs a command line. An error from before the command's own work is a UsageError. It adds the command version and the
// flag --version; linked is the version that the linker set, if it did.
func Execute(ctx context.Context, root *cobra.Command, linked string, args []string) error {
	line := version.Line(root.Name(), linked)
	root.Version = line
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Example: "  " + root.Name() + " version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
			return err
		},
	})
	root.SilenceUsage, root.SilenceErrors = true, true
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !started {
		return UsageError{err}
	}
	return err
}

// Exit prints an error, if there is one, and returns the exit code. What --help is for is said after a UsageError.
func Exit(errs io.Writer, name, helpIsFor string, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, new(UsageError)):
		_, _ = fmt.Fprintf(errs, "%s: %v\nRun '%[1]s --help' for %[3]s.\n", name, err, helpIsFor)
		return ExitUsage
	default:
		_, _ = fmt.Fprintf(errs, "%s: %v\n", name, err)
		return ExitOther
	}
}
