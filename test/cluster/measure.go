// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// MeasuresEnv names the variable that holds the name of a file. Each shared
// cluster adds a line about what it cost to that file.
const MeasuresEnv = "FLEETWRIGHT_CLUSTER_MEASURES"

// Memory is what the programs hold together now, in MiB. A page that several
// of them share counts once. It is known on Linux only.
func (c *Cluster) Memory() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, p := range c.running {
		held, err := proportional(p.Pid())
		if err != nil {
			return 0, err
		}
		total += held
	}
	return total / 1024, nil
}

// proportional is the proportional set size of a process, in KiB.
func proportional(pid int) (int, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		var size int
		if n, _ := fmt.Sscanf(lines.Text(), "Pss: %d kB", &size); n == 1 {
			return size, nil
		}
	}
	return 0, fmt.Errorf("no Pss of process %d", pid)
}

// tellMeasures adds the cluster's line, if somebody asked for it.
func (c *Cluster) tellMeasures(tests time.Duration) error {
	path := os.Getenv(MeasuresEnv)
	if path == "" || c.existing {
		return nil
	}
	memory := "unknown memory"
	if held, err := c.Memory(); err == nil {
		memory = fmt.Sprintf("%d MiB", held)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = fmt.Fprintf(file, "%s: control plane started in %.1fs, %s at the end, tests took %.0fs\n",
		filepath.Base(dir), c.startTook.Seconds(), memory, tests.Seconds())
	return err
}
