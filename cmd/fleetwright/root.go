// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/internal/program"
	"github.com/fleetwright/fleetwright/render/source"
)

// linked is the version, set by the linker in a release.
var linked string

// exitInput is the exit code when the input is wrong, a directory is stale, or a change is refused.
const exitInput = 1

type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// app is what the commands share.
type app struct {
	streams
	getenv func(string) string
	// checks says that the command only looks, so that nobody has to be told that nothing was rendered.
	checks bool
}

// errStale is returned for a directory that does not hold what it should; the difference is printed already.
var errStale = errors.New("the directory is stale: render it again without --check")

// A usageError is a command line that makes no sense, found once the command's own work began.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// run executes a command line, with the program's name first, and returns the exit code.
func run(args []string, s streams, getenv func(string) string) int {
	a := &app{streams: s, getenv: getenv}
	root := a.rootCommand()
	// Names that kubectl finds programs by.
	switch args = slices.Clone(args); filepath.Base(args[0]) {
	case "kubectl-fleetwright":
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fleetwright"}
	case "kubectl_complete-fleetwright":
		args = slices.Insert(args, 1, cobra.ShellCompRequestCmd)
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	return a.exitCode(program.Execute(context.Background(), root, linked, args[1:]))
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetwright",
		Short: "Run celld fleets from Git",
		Long: `Fleetwright turns fleets, PersistentFleet and BucketFleet, into the Kubernetes objects that run them.

It reads no cluster and writes none: Argo CD, Flux or kubectl apply what it prints. The same input
gives the same bytes. Nothing is printed or written unless everything succeeded.

Exit codes: 0 done, 1 the input is wrong, a directory is stale or a change is refused, 2 usage, 3 anything else.`,
		Example: `  fleetwright render fleet.yaml | kubectl apply --server-side -f -
  fleetwright validate fleets/
  fleetwright plan ../base/fleets fleets/
  fleetwright render overlays/production -o rendered/production`,
	}
	root.AddCommand(a.renderCommand(), a.validateCommand(), a.planCommand(), a.fnCommand())
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, list := f.Value.(pflag.SliceValue); !list {
				f.Value = &once{Value: f.Value}
			}
		})
	}
	return root
}

// once is a flag that may be given once: of two values, nobody can tell which was meant.
type once struct {
	pflag.Value
	given bool
}

func (v *once) Set(text string) error {
	if v.given {
		return errors.New("it is given twice")
	}
	v.given = true
	return v.Value.Set(text)
}

// exitCode prints an error, if there is one, and returns what the process should exit with.
func (a *app) exitCode(err error) int {
	var problems source.Problems
	var usage usageError
	switch {
	case errors.As(err, &problems):
		a.printProblems("error", problems)
		outcome := "; nothing was rendered"
		if a.checks {
			outcome = ""
		}
		a.printf("fleetwright: %s%s%s\n", count(len(problems), "problem"), outcome, a.application())
		return exitInput
	case errors.Is(err, errStale), errors.Is(err, errRefused):
		a.printf("fleetwright: %v%s\n", err, a.application())
		return exitInput
	case errors.As(err, &usage):
		err = program.UsageError{Err: usage}
	case err != nil && !errors.As(err, new(program.UsageError)):
		err = fmt.Errorf("%w%s", err, a.application())
	}
	return program.Exit(a.err, "fleetwright", "usage", err)
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
	var parts []string
	for _, part := range []struct{ what, key string }{
		{"application", "ARGOCD_APP_NAME"}, {"path", "ARGOCD_APP_SOURCE_PATH"}, {"revision", "ARGOCD_APP_REVISION"},
	} {
		if value := a.getenv(part.key); value != "" {
			parts = append(parts, part.what+" "+value)
		}
	}
	if len(parts) == 0 || a.getenv("ARGOCD_APP_NAME") == "" {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
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
	recursive  bool
	aboveCap   bool // as source.Options have it
}

func (f *inputFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of fleets that name none (default $ARGOCD_APP_NAMESPACE)")
	f.registerRecursive(cmd)
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false, "succeed when the input holds no fleet")
}

func (f *inputFlags) registerRecursive(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.recursive, "recursive", "R", false, "read directories below a directory as well")
}

// read reads the paths of a command, the current directory when there are none, and prints warnings.
func (a *app) read(paths []string, f *inputFlags) (*source.Set, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	namespace, err := a.namespace(f)
	if err != nil {
		return nil, err
	}
	set, err := source.Read(paths, source.Options{Stdin: a.in, Namespace: namespace, Repository: a.repository(),
		Recursive: f.recursive, AboveCap: f.aboveCap})
	if err != nil {
		return nil, err
	}
	a.printProblems("warning", set.Warnings)
	if set.Fleets() == 0 && !f.allowEmpty {
		read := slices.Clone(paths)
		for i := range read {
			if read[i] == "-" {
				read[i] = source.StdinName
			}
		}
		return nil, source.Problems{{File: strings.Join(read, " "),
			Message: "holds no fleet: name a file that holds a PersistentFleet or BucketFleet, or allow it with --allow-empty"}}
	}
	return set, nil
}

// namespace returns the namespace of fleets that name none.
func (a *app) namespace(f *inputFlags) (string, error) {
	const variable = "ARGOCD_APP_NAMESPACE"
	if f.namespace != "" {
		return f.namespace, checkNamespace("--namespace", f.namespace)
	}
	p, err := a.parameters()
	if err != nil || p.namespace != "" {
		return p.namespace, err
	}
	namespace := a.getenv(variable)
	if err := checkNamespace(variable, namespace); namespace != "" && err != nil {
		return "", err
	}
	return namespace, nil
}

// checkNamespace returns a usage error for what cannot be a namespace.
func checkNamespace(where, namespace string) error {
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return usageError{fmt.Sprintf("%s %q: a namespace has lower-case letters, digits and '-' only, at most 63", where, namespace)}
	}
	return nil
}
