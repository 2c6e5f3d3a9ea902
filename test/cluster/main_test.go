// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
)

var shared cluster.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
