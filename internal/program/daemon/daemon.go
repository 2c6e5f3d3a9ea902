// SPDX-License-Identifier: Apache-2.0

// Package daemon is the skeleton of the two programs that run in a cluster: signals, log, and how to reach the API server.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/internal/program"
)

// Main runs the program's command line until a signal ends it, and returns the exit code.
func Main(root *cobra.Command, linked string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, root, linked, os.Args[1:], os.Stdout, os.Stderr)
}

// Run runs a command line until the context ends, and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, linked string, args []string, out, errs io.Writer) int {
	root.SetOut(out)
	root.SetErr(errs)
	return program.Exit(errs, root.Name(), "the flags", program.Execute(ctx, root, linked, args))
}

// Flags that both programs have.
type Flags struct {
	kubeconfig string
	verbose    bool
}

// Register adds the flags to a command. The log holds more than usual with --verbose.
func (f *Flags) Register(cmd *cobra.Command, usual string) {
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "",
		"how to reach the API server; default the Pod's service account, then $KUBECONFIG")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "log more than "+usual)
}

// Logger returns the log of the program and its libraries: a line of JSON for each message.
func (f *Flags) Logger(w io.Writer) logr.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339TimeEncoder
	config.EncodeDuration = func(d time.Duration, e zapcore.PrimitiveArrayEncoder) { e.AppendString(d.String()) }
	level := zapcore.InfoLevel
	if f.verbose {
		level = zapcore.DebugLevel
	}
	logger := zapr.NewLogger(zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(config), zapcore.Lock(zapcore.AddSync(w)), level)))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	return logger
}

// Config says how to reach the API server.
func (f *Flags) Config() (*rest.Config, error) {
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
