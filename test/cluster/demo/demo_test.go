// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/demo"
)

var shared cluster.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

func TestDemo(t *testing.T) {
	var said bytes.Buffer
	defer func() { t.Log("\n" + said.String()) }()
	demo.Run(t, &demo.Screen{Out: &said}, demo.Options{Start: shared.Cluster, Quick: true})
	require.Contains(t, said.String(), "nothing")
}
