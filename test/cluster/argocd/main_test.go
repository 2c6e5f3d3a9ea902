// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
)

type ctx = context.Context

const root = "../../.."

var shared = cluster.Shared{Needs: []cluster.Capability{cluster.Nodes}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// path is a file of the repository.
func path(t testing.TB, name string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(root, name))
	require.NoError(t, err)
	return absolute
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(path(t, name))
	require.NoError(t, err)
	return string(text)
}

// write writes a file, and the directory that it is in.
func write(t testing.TB, name, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}
