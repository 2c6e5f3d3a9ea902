// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

// Exit codes.
const (
	exitOK    = 0
	exitUsage = 2 // the command line is wrong
	exitOther = 3 // anything else, such as a port that is taken
)

// A server runs the webhook until the context ends.
type server func(ctx context.Context, o serve.Options, errs io.Writer) error

// serveInCluster serves with the rights of the Pod, or of a kubeconfig outside a cluster.
func serveInCluster(ctx context.Context, o serve.Options, errs io.Writer) error {
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(errs)))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	rest, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	return serve.Run(ctx, rest, o)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer, s server) int {
	started := false
	root := rootCommand(s, &started)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case started:
		_, _ = fmt.Fprintf(errs, "fleetwright-webhook: %v\n", err)
		return exitOther
	default:
		_, _ = fmt.Fprintf(errs, "fleetwright-webhook: %v\nRun 'fleetwright-webhook --help' for usage.\n", err)
		return exitUsage
	}
}

func rootCommand(s server, started *bool) *cobra.Command {
	o := serve.Default()
	port := 9443
	cmd := &cobra.Command{
		Use:   "fleetwright-webhook",
		Short: "Reject unsafe edits of fleets",
		Long: `Fleetwright-webhook answers the API server's admission reviews of fleets and of what runs them. It changes
nothing, and calls nothing but the API server. Every replica serves; none of them leads.

With --tls rotate it makes its own certificates, keeps them in the Secret fleetwright-webhook-tls of its
namespace, and tells the API server by the caBundle of ValidatingWebhookConfiguration fleetwright-webhook.
With --tls files it serves tls.crt and tls.key from --cert-dir, such as cert-manager mounts them, and reads
them again when they change.

Told to stop, it is not ready at once and goes on serving for --drain-delay, so that no review is refused.

Exit codes: 0 stopped when told to, 2 usage, 3 anything else.`,
		Example: `  fleetwright-webhook --namespace fleetwright-system
  fleetwright-webhook --tls files --cert-dir /tls`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 1 || port > 65535 {
				return fmt.Errorf("--port %d: must be from 1 to 65535", port)
			}
			o.Address = net.JoinHostPort("", strconv.Itoa(port))
			if err := o.Validate(); err != nil {
				return err
			}
			*started = true
			return s(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Healer, "healer-identity", o.Healer, "user name of the healer, who alone changes replicas and deletes disks")
	f.StringVar(&o.Namespace, "namespace", o.Namespace, "namespace of the webhook's Service and Secret")
	f.IntVar(&port, "port", port, "port of reviews")
	f.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "address of /metrics, 0 for none")
	f.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress, "address of /healthz and /readyz, 0 for none")
	f.StringVar(&o.TLS, "tls", o.TLS, "where the certificate comes from: rotate or files")
	f.StringVar(&o.CertDir, "cert-dir", o.CertDir, "directory of tls.crt and tls.key with --tls files")
	f.DurationVar(&o.DrainDelay, "drain-delay", o.DrainDelay, "how long to go on serving when told to stop")
	cmd.AddCommand(versionCommand(started))
	return cmd
}

// linked is the version, set by the linker in a release.
var linked string

func versionCommand(started *bool) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  fleetwright-webhook version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			*started = true
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.Line("fleetwright-webhook", linked))
			return err
		},
	}
}
