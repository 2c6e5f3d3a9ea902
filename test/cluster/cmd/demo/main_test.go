// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongUseIsToldAndStartsNothing(t *testing.T) {
	for name, args := range map[string][]string{
		"an unknown flag":     {"--fast"},
		"an argument":         {"now"},
		"a step before first": {"--until", "0"},
		"a step after last":   {"--until", "99"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			require.Equal(t, exitUsage, run(args, os.Stdout, &said))
			require.NotEmpty(t, said.String())
		})
	}
}

func TestHelpHasExamples(t *testing.T) {
	var said bytes.Buffer
	require.Equal(t, exitDone, run([]string{"--help"}, os.Stdout, &said))
	require.Contains(t, said.String(), "go run ./cmd/demo --keep")
}

func TestARecordingThatCannotBeWrittenIsToldBeforeAnythingStarts(t *testing.T) {
	var said bytes.Buffer
	require.Equal(t, exitOther, run([]string{"--record", filepath.Join(t.TempDir(), "no", "such.cast")}, os.Stdout, &said))
	require.Contains(t, said.String(), "no such file")
}

func TestAFileGetsLinesAndARecordingGetsATerminal(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	screen, err := open(out, "")
	require.NoError(t, err)
	require.Nil(t, screen.Size)
	require.False(t, screen.Color)

	for color, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("NO_COLOR", color)
		screen, err = open(out, filepath.Join(t.TempDir(), "demo.cast"))
		require.NoError(t, err)
		require.NotNil(t, screen.Size)
		require.Equal(t, want, screen.Color)
		require.NotNil(t, screen.Chapter)
	}
}
