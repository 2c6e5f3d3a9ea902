// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"
)

func TestX(t *testing.T) {
	a := time.Now()
	c := shared.Cluster(t)
	t.Log("start", time.Since(a))
	a = time.Now()
	w := c.World(t)
	t.Log("world", time.Since(a), w.Namespace)
	a = time.Now()
	w.SilenceNode(w.Nodes(w.Zones[0])[0])
	t.Log("silent", time.Since(a), w.Namespace)
	w.RestoreNode(w.Nodes(w.Zones[0])[0])
	t.Log("restored", time.Since(a), w.Namespace)
}
