// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/demo"
)

var shared = cluster.Shared{Needs: []cluster.Capability{cluster.Nodes}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// parts are what a transcript has to hold, in this order: expressions, each for
// a line or a piece of one.
var parts = []string{
	`^1\. A control plane$`,
	`^us-east-1a-\w+ +Ready .* us-east-1a$`,

	`^2\. Install the webhook and the healer$`,
	`^\$ kubectl apply --server-side -f dist/install\.yaml$`,
	`^deployment\.apps/fleetwright-healer condition met$`,
	`^deployment\.apps/fleetwright-webhook condition met$`,

	`^3\. Apply a fleet: it grows as the scheduler finds places$`,
	`^\$ fleetwright render examples/quickstart \| kubectl apply --server-side -f -$`,
	`^statefulset\.apps/my-fleet serverside-applied$`,
	`^my-fleet  \d of 3 ready  Provisioning  `,
	`^Scaled  adding members my-fleet-1 to my-fleet-2 on fresh disks$`,
	`^my-fleet  3 of 3 ready  Ready  Provisioned$`,
	`^✓ three members run  after `,

	`^4\. Edit it by hand: refused$`,
	`^Error from server \(Forbidden\): admission webhook "scale\.celld\.eric\.dev" denied the request: .* set spec\.replicas of PersistentFleet`,
	`^error: .* admission webhook "workload\.celld\.eric\.dev" denied the request: .* change spec\.runtimeImage of the fleet in Git$`,

	`^5\. Grow to five members$`,
	`^my-fleet  5 of 5 ready  Ready  Provisioned$`,
	`^✓ five members run  after `,

	`^6\. Lose a disk$`,
	`^persistentvolume/pvc-[0-9a-f-]+ patched$`,
	`^MemberDiskLost  claim data-my-fleet-\d is Lost, its volume is gone; replacing my-fleet-\d on a fresh disk$`,
	`^my-fleet  5 of 5 ready  Ready  Provisioned$`,
	`^✓ my-fleet-\d runs on a fresh disk  after `,

	`^7\. Lose a node$`,
	`^✓ Kubernetes gives the node up  after `,
	`^\$ kubectl taint node us-east-1\w-\w+ node\.kubernetes\.io/out-of-service=nodeshutdown:NoExecute$`,
	`^my-fleet  4 of 5 ready  Provisioning  `,
	`^my-fleet  5 of 5 ready  Ready  Provisioned$`,
	`^✓ my-fleet-\d runs on another node, on the disk that it had  after `,

	`^8\. Delete the fleet: what stays$`,
	`^✓ the fleet is gone  after `,
	`^No resources found in fleets namespace\.$`,
	`^s3://my-bucket +my-fleet +[0-9a-f-]{36}$`,
}

func TestEachStepComesTrue(t *testing.T) {
	var said bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + said.String())
		}
	})
	require.NoError(t, demo.Run(t.Context(), &demo.Screen{Out: &said}, demo.Options{Cluster: shared.Cluster(t), Until: demo.Steps(), Quick: true}))

	lines := strings.Split(said.String(), "\n")
	for _, part := range parts {
		pattern := regexp.MustCompile(part)
		for len(lines) > 0 && !pattern.MatchString(lines[0]) {
			lines = lines[1:]
		}
		require.NotEmpty(t, lines, "the transcript has no line %s after those before it", part)
	}
	require.NotContains(t, said.String(), "\x1b", "colours where there is no terminal")
}
