// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/healer"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/internal/program"
	"github.com/fleetwright/fleetwright/internal/program/daemon"
	"github.com/fleetwright/fleetwright/internal/version"
)

// linked is the version, set by the linker in a release.
var linked string

// namespaceFile is where a Pod finds its own namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

type flags struct {
	daemon.Flags
	options healer.RunOptions
}

func command() *cobra.Command {
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return program.UsageError{Err: err}
			}
			return f.serve(cmd.Context(), cmd.ErrOrStderr())
		},
	}
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
	flag.IntVar(&o.Policy.MaxReplacements, "max-replacements", 0,
		"how many disks may be replaced over all fleets within --member-replacement-delay; default 3, or a tenth of the fleets, whichever is more")
	flag.StringSliceVar(&o.Namespaces, "namespaces", nil, "look after fleets of these namespaces only; default all")
	flag.BoolVar(&o.LeaderElect, "leader-elect", false, "let one of several healers work while the others stand by")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the lease; default the one that the program runs in")
	flag.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8080", "where /metrics listens, in the clear; 0 for nowhere")
	flag.StringVar(&o.ProbeAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz listen; 0 for nowhere")
	flag.IntVar(&o.Concurrency, "concurrency", 4, "how many fleets of a kind are worked on in parallel")
	f.Register(cmd, "actions and waits")
}

// serve runs the healer until ctx ends.
func (f *flags) serve(ctx context.Context, errs io.Writer) error {
	logger := f.Logger(errs)
	config, err := f.Config()
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
