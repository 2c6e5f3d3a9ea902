// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/fleetwright/fleetwright/internal/program/daemon"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

func TestCommandLine(t *testing.T) {
	with := func(change func(*serve.Options)) *serve.Options {
		o := serve.Default()
		change(&o)
		return &o
	}
	tests := map[string]struct {
		args []string
		fail error
		code int
		want *serve.Options // what is served with, nil for nothing
		says string
	}{
		"defaults": {want: with(func(*serve.Options) {})},
		"all": {
			args: []string{"--healer-identity=h", "--namespace=n", "--port=1234", "--metrics-bind-address=0", "--health-probe-bind-address=:1",
				"--tls=files", "--cert-dir=/c", "--drain-delay=1s"},
			want: with(func(o *serve.Options) {
				o.Healer, o.Namespace, o.Address, o.MetricsAddress, o.ProbeAddress = "h", "n", ":1234", "0", ":1"
				o.TLS, o.CertDir, o.DrainDelay = "files", "/c", time.Second
			}),
		},
		"unknown flag":   {args: []string{"--nope"}, code: 2, says: "fleetwright-webhook: unknown flag: --nope\nRun 'fleetwright-webhook --help' for the flags.\n"},
		"argument":       {args: []string{"what"}, code: 2, says: "unknown command"},
		"port":           {args: []string{"--port=70000"}, code: 2, says: "--port 70000: must be from 1 to 65535"},
		"tls":            {args: []string{"--tls=none"}, code: 2, says: `--tls "none": must be rotate or files`},
		"no healer":      {args: []string{"--healer-identity="}, code: 2, says: "--healer-identity is empty"},
		"no namespace":   {args: []string{"--namespace="}, code: 2, says: "--namespace is empty"},
		"negative delay": {args: []string{"--drain-delay=-1s"}, code: 2, says: "--drain-delay -1s"},
		"fails":          {fail: errors.New("port taken"), code: 3, want: with(func(*serve.Options) {}), says: "fleetwright-webhook: port taken\n"},
		"kubeconfig":     {args: []string{"--kubeconfig=nowhere.yaml"}, code: 3, says: "fleetwright-webhook: reading how to reach the API server: stat nowhere.yaml: no such file or directory\n"},
		"version":        {args: []string{"version"}, says: "fleetwright-webhook "},
		"--version":      {args: []string{"--version"}, says: "fleetwright-webhook "},
		"help":           {args: []string{"--help"}, says: "Exit codes: 0"},
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{current-context: a, contexts: [{name: a, context: {cluster: a}}],
		clusters: [{name: a, cluster: {server: "https://api.test"}}]}`), 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			var got *serve.Options
			cmd := command(func(_ context.Context, config *rest.Config, o serve.Options) error {
				require.Equal(t, "https://api.test", config.Host)
				got = &o
				return tc.fail
			})
			code := daemon.Run(t.Context(), cmd, "", tc.args, &said, &said)
			require.Equal(t, tc.code, code, said.String())
			require.Equal(t, tc.want, got)
			require.Contains(t, said.String(), tc.says)
		})
	}
}
