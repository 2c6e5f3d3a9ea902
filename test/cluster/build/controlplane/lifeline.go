// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

const (
	// lifelineEnv names the file descriptor of the lifeline, if there is one.
	lifelineEnv = "FLEETWRIGHT_LIFELINE_FD"
	// scratchEnv names a directory that nobody needs after that.
	scratchEnv = "FLEETWRIGHT_LIFELINE_SCRATCH"
)

// holdLifeline ends this process at the moment that the one which started it
// is gone, however it went: a panic and a SIGKILL of a test included. The
// lifeline is the reading end of a pipe whose writing end nobody else holds,
// so it reports its end exactly then. Nothing is saved on the way out: the
// data of a test control plane is of no use to anyone after the test.
func holdLifeline() error {
	value, ok := os.LookupEnv(lifelineEnv)
	if !ok {
		return nil
	}
	fd, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return fmt.Errorf("%s: %w", lifelineEnv, err)
	}
	lifeline := os.NewFile(uintptr(fd), "lifeline")
	if _, err := lifeline.Stat(); err != nil {
		return fmt.Errorf("%s=%s: %w", lifelineEnv, value, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		fmt.Fprintln(os.Stderr, "controlplane: the process that started this one is gone")
		if scratch := os.Getenv(scratchEnv); scratch != "" {
			_ = os.RemoveAll(scratch)
		}
		os.Exit(0)
	}()
	return nil
}
