// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/program/daemon"
)

// A message is a line of JSON, and --verbose lets more of them through.
func TestLogger(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"usual":   {want: []string{"told", "wrong"}},
		"verbose": {args: []string{"--verbose"}, want: []string{"told", "detail", "wrong"}},
	} {
		t.Run(name, func(t *testing.T) {
			var f daemon.Flags
			var log bytes.Buffer
			cmd := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
				logger := f.Logger(cmd.ErrOrStderr())
				logger.Info("told", "for", time.Minute)
				logger.V(1).Info("detail")
				logger.Error(errors.New("no"), "wrong")
				return nil
			}}
			f.Register(cmd, "usual")
			require.Zero(t, daemon.Run(t.Context(), cmd, "", tc.args, &bytes.Buffer{}, &log))
			var got []string
			for line := range bytes.Lines(log.Bytes()) {
				var message struct {
					Time    time.Time `json:"ts"`
					Message string    `json:"msg"`
					For     string    `json:"for"`
				}
				require.NoError(t, json.Unmarshal(line, &message), string(line))
				require.False(t, message.Time.IsZero())
				require.Equal(t, message.Message == "told", message.For == "1m0s")
				got = append(got, message.Message)
			}
			require.Equal(t, tc.want, got)
		})
	}
}
