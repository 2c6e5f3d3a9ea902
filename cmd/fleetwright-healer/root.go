// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-logr/zapr"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/internal/version"
)

// Exit codes.
const (
	exitOK    = 0
	exitUsage = 2 // the command line is wrong
	exitOther = 3 // anything else, such as a lost lease
)

// linked is the version, set by the linker in a release.
var linked string

// namespaceFile is where a Pod finds its own namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// A usageError is a command line that makes no sense, found once the command's own work began.
type usageError struct{ error }

type flags struct {
	options    healer.RunOptions
	kubeconfig string
	verbose    bool
}

// run executes the command line until ctx ends, and returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	started := false
	cmd := command(&started, errs)
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case !started, errors.As(err, &usage):
		_, _ = fmt.Fprintf(errs, "fleetwright-healer: %v\nRun 'fleetwright-healer --help' for the flags.\n", err)
		return exitUsage
	default:
		_, _ = fmt.Fprintf(errs, "fleetwright-healer: %v\n", err)
		return exitOther
	}
}

func command(started *bool, errs io.Writer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "fleetwright-healer",
		Short: "Look after celld fleets",
		Long: `Fleetwright-healer does the few things for fleets that declarative sync cannot do: it replaces a member that cannot
come back, grows and contracts at a safe pace, deletes, and reports in status, events and metrics. Run two with
--leader-elect: one works, the other takes over.

It stops on SIGTERM after the action in progress. Exit codes: 0 stopped, 2 usage, 3 anything else.`,
		Example: `  fleetwright-healer --leader-elect
  fleetwright-healer --kubeconfig ~/.kube/config --namespaces fleets --member-replacement-delay 20m
  fleetwright-healer completion bash`,
		Version:          version.Line("fleetwright-healer", linked),
		Args:             cobra.NoArgs,
		SilenceUsage:     true,
		SilenceErrors:    true,
		PersistentPreRun: func(*cobra.Command, []string) { *started = true },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return usageError{err}
			}
			return f.serve(cmd.Context(), errs)
		},
	}
	cmd.SetVersionTemplate("{{.Version}}\n")
	cmd.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Example: "  fleetwright-healer version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.Line("fleetwright-healer", linked))
			return err
		},
	})
	f.register(cmd)
	return cmd
}

// validate returns what is wrong with the flags.
func (f *flags) validate() error {
	o := &f.options
	if o.Concurrency < 1 {
		return fmt.Errorf("--concurrency %d is less than 1", o.Concurrency)
	}
	for _, namespace := range o.Namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return fmt.Errorf("--namespaces: %q is not a namespace; separate names with commas, and leave the flag out for all", namespace)
		}
	}
	if o.LeaderElect && o.LeaderElectionNamespace == "" {
		if _, err := os.Stat(namespaceFile); err != nil {
			return errors.New("--leader-elect outside a cluster needs --leader-election-namespace, for the lease")
		}
	}
	return o.Validate()
}

func (f *flags) register(cmd *cobra.Command) {
	o := &f.options
	flag := cmd.Flags()
	flag.DurationVar(&o.Policy.ReplacementDelay, "member-replacement-delay", rules.DefaultReplacementDelay,
		"how long a member is not ready before it is replaced on a fresh disk, at least 1m")
	flag.StringSliceVar(&o.Namespaces, "namespaces", nil, "look after fleets of these namespaces only; default all")
	flag.BoolVar(&o.LeaderElect, "leader-elect", false, "let one of several healers work while the others stand by")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the lease; default the one that the program runs in")
	flag.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8080", "where /metrics listens, in the clear; 0 for nowhere")
	flag.StringVar(&o.ProbeAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz listen; 0 for nowhere")
	flag.IntVar(&o.Concurrency, "concurrency", 4, "how many fleets of a kind are worked on in parallel")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "how to reach the API server; default the Pod's service account, then $KUBECONFIG")
	flag.BoolVar(&f.verbose, "verbose", false, "log more than actions and waits")
}

// serve runs the healer until ctx ends.
func (f *flags) serve(ctx context.Context, errs io.Writer) error {
	logger := zapr.NewLogger(newLogger(errs, f.verbose))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	config, err := f.config()
	if err != nil {
		return err
	}
	f.options.Version, f.options.Logger = version.Of(linked), logger
	mgr, err := healer.NewManager(ctx, config, f.options)
	if err != nil {
		return fmt.Errorf("setting up with API server %s: %w", config.Host, err)
	}
	logger.Info("starting", "version", f.options.Version, "memberReplacementDelay", f.options.Policy.ReplacementDelay.String(),
		"namespaces", f.options.Namespaces)
	return mgr.Start(ctx)
}

// config says how to reach the API server.
func (f *flags) config() (*rest.Config, error) {
	if f.kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err == nil {
			return config, nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("using the Pod's service account: %w", err)
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	switch {
	case err == nil:
		return config, nil
	case clientcmd.IsEmptyConfig(err) && f.kubeconfig != "":
		return nil, fmt.Errorf("no API server is configured: --kubeconfig %s names none", f.kubeconfig)
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("no API server is configured: this is no Pod with a service account, and %s names none; use --kubeconfig",
			strings.Join(rules.Precedence, ", "))
	default:
		return nil, fmt.Errorf("reading how to reach the API server: %w", err)
	}
}

// newLogger writes a line of JSON for each message.
func newLogger(w io.Writer, verbose bool) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339TimeEncoder
	config.EncodeDuration = func(d time.Duration, e zapcore.PrimitiveArrayEncoder) { e.AppendString(d.String()) }
	level := zapcore.InfoLevel
	if verbose {
		level = zapcore.DebugLevel
	}
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.Lock(zapcore.AddSync(w)), level))
}
