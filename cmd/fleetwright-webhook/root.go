// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/fleetwright/fleetwright/internal/program"
	"github.com/fleetwright/fleetwright/internal/program/daemon"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

// linked is the version, set by the linker in a release.
var linked string

// A server runs the webhook until the context ends.
type server func(context.Context, *rest.Config, serve.Options) error

func command(s server) *cobra.Command {
	var f daemon.Flags
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 1 || port > 65535 {
				return program.UsageError{Err: fmt.Errorf("--port %d: must be from 1 to 65535", port)}
			}
			o.Address = net.JoinHostPort("", strconv.Itoa(port))
			if err := o.Validate(); err != nil {
				return program.UsageError{Err: err}
			}
			f.Logger(cmd.ErrOrStderr())
			config, err := f.Config()
			if err != nil {
				return err
			}
			return s(cmd.Context(), config, o)
		},
	}
	flag := cmd.Flags()
	flag.StringVar(&o.Healer, "healer-identity", o.Healer, "user name of the healer, who alone changes replicas and deletes disks")
	flag.StringVar(&o.Namespace, "namespace", o.Namespace, "namespace of the webhook's Service and Secret")
	flag.IntVar(&port, "port", port, "port of reviews")
	flag.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "address of /metrics, 0 for none")
	flag.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress, "address of /healthz and /readyz, 0 for none")
	flag.StringVar(&o.TLS, "tls", o.TLS, "where the certificate comes from: rotate or files")
	flag.StringVar(&o.CertDir, "cert-dir", o.CertDir, "directory of tls.crt and tls.key with --tls files")
	flag.DurationVar(&o.DrainDelay, "drain-delay", o.DrainDelay, "how long to go on serving when told to stop")
	f.Register(cmd, "refusals")
	return cmd
}
