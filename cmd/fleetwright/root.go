// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/render/source"
)

// Exit codes.
const (
	exitOK    = 0
	exitInput = 1 // the input is wrong, or a directory is stale
	exitUsage = 2 // the command line is wrong
	exitOther = 3 // anything else, such as a full disk
)

type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// app is what the commands share.
type app struct {
	streams
	getenv func(string) string
	// started says that a command's own work began: errors before are about the command line.
	started bool
}

// errStale is returned for a directory that does not hold what it should; the difference is printed already.
var errStale = errors.New("the directory is stale: render it again without --check")

// errReported is returned for problems that are printed already.
var errReported = errors.New("the input is wrong")

// run executes the command line and returns the exit code.
func run(args []string, s streams, getenv func(string) string) int {
	a := &app{streams: s, getenv: getenv}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	return a.exitCode(root.Execute())
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetwright",
		Short: "Run celld fleets from Git",
		Long: `Fleetwright turns fleets, PersistentFleet and BucketFleet, into the Kubernetes objects that run them.

It reads no cluster and writes none: Argo CD, Flux or kubectl apply what it prints. The same input
gives the same bytes. Nothing is printed or written unless everything succeeded.

Exit codes: 0 done, 1 the input is wrong or a directory is stale, 2 usage, 3 anything else.`,
		Example: `  fleetwright render fleet.yaml | kubectl apply --server-side -f -
  fleetwright validate fleets/
  fleetwright render overlays/production -o rendered/production`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.started = true
		},
	}
	root.AddCommand(a.renderCommand(), a.validateCommand(), a.fnCommand(), a.versionCommand())
	return root
}

// exitCode prints an error, if there is one, and returns what the process should exit with.
func (a *app) exitCode(err error) int {
	var problems source.Problems
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &problems):
		a.printProblems("error", problems)
		a.printf("fleetwright: %s; nothing was rendered%s\n", count(len(problems), "problem"), a.application())
		return exitInput
	case errors.Is(err, errStale), errors.Is(err, errReported):
		a.printf("fleetwright: %v%s\n", err, a.application())
		return exitInput
	case !a.started:
		a.printf("fleetwright: %v\nRun 'fleetwright --help' for usage.\n", err)
		return exitUsage
	default:
		a.printf("fleetwright: %v%s\n", err, a.application())
		return exitOther
	}
}

// printf writes to the error stream. Nobody can be told when that fails.
func (a *app) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(a.err, format, args...)
}

func (a *app) printProblems(severity string, problems source.Problems) {
	var b strings.Builder
	for _, p := range problems {
		if severity == "error" {
			fmt.Fprintf(&b, "%s\n", p)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", severity, p)
		}
	}
	a.printf("%s", b.String())
}

// application names the Argo CD application that this run belongs to, so that an error in its cache can be traced.
func (a *app) application() string {
	name := a.getenv("ARGOCD_APP_NAME")
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (application %s, path %s, revision %s)", name, a.getenv("ARGOCD_APP_SOURCE_PATH"), a.getenv("ARGOCD_APP_REVISION"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// inputFlags are the flags of commands that read fleets.
type inputFlags struct {
	namespace  string
	allowEmpty bool
}

func (f *inputFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of fleets that name none (default $ARGOCD_APP_NAMESPACE)")
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false, "succeed when the input holds no fleet")
}

// read reads the paths of a command, the current directory when there are none, and prints warnings.
func (a *app) read(paths []string, f *inputFlags) (*source.Set, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	namespace := f.namespace
	if namespace == "" {
		namespace = a.getenv("ARGOCD_APP_NAMESPACE")
	}
	set, err := source.Read(paths, source.Options{Stdin: a.in, Namespace: namespace})
	if err != nil {
		return nil, err
	}
	a.printProblems("warning", set.Warnings)
	if set.Fleets() == 0 && !f.allowEmpty {
		return nil, source.Problems{{File: strings.Join(paths, " "),
			Message: "holds no fleet: name a file that holds a PersistentFleet or BucketFleet, or allow it with --allow-empty"}}
	}
	return set, nil
}
