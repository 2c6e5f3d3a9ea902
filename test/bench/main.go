// SPDX-License-Identifier: Apache-2.0

// Command bench measures the fleetwright command as its users run it, whole processes, beside helm and kustomize, and
// prints ratios. Run it from the root of the repository: go run ./test/bench
//
// All programs are built from their modules first. Before anything is timed, their outputs are compared: they must hold
// the same objects.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// rounds is how often each program runs; they take turns, so that a busy moment of the machine hits all of them.
	rounds = 21
	// limit bounds one run of a program.
	limit = 5 * time.Minute
	// fleet is what all programs turn into the same objects.
	fleet = "examples/quickstart"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	dir, err := os.MkdirTemp("", "fleetwright-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	programs, err := prepare(dir)
	if err != nil {
		return err
	}
	if err := sameObjects(programs); err != nil {
		return err
	}
	if err := oneFleet(programs); err != nil {
		return err
	}
	return streams(programs[0].args[0], dir)
}

// A program is a command line that prints the objects of the fleet.
type program struct {
	name string
	args []string
}

// prepare builds the programs, ours first, and what they read.
func prepare(dir string) ([]program, error) {
	ours := filepath.Join(dir, "fleetwright")
	build := []string{"env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", ours, "./cmd/fleetwright"}
	if _, err := commandOutput(build...); err != nil {
		return nil, err
	}
	tools := map[string]string{"helm": "", "kustomize": ""}
	for name := range tools {
		path, err := commandOutput("go", "tool", "-modfile=test/bench/tools.mod", "-n", name)
		if err != nil {
			return nil, err
		}
		tools[name] = strings.TrimSpace(path)
	}
	rendered, chart := filepath.Join(dir, "rendered"), filepath.Join(dir, "chart")
	if _, err := commandOutput(ours, "render", fleet, "-o", rendered); err != nil {
		return nil, err
	}
	if err := writeChart(rendered, chart); err != nil {
		return nil, err
	}
	return []program{
		{"fleetwright render", []string{ours, "render", fleet}},
		{"helm template", []string{tools["helm"], "template", "my-fleet", chart, "-n", "fleets"}},
		{"kustomize build", []string{tools["kustomize"], "build", rendered}},
	}, nil
}

// oneFleet times whole processes for one fleet.
func oneFleet(programs []program) error {
	cpu := make([][]time.Duration, len(programs))
	memory := make([]int64, len(programs))
	for range rounds {
		for i, p := range programs {
			usage, err := run(nil, os.DevNull, p.args...)
			if err != nil {
				return err
			}
			cpu[i] = append(cpu[i], usage.cpu)
			memory[i] = max(memory[i], usage.memory)
		}
	}
	fmt.Printf("One fleet, %d runs of each whole process, taking turns\n\n", rounds)
	fmt.Printf("%-20s %12s %12s %12s %14s\n", "", "CPU median", "CPU least", "memory", "CPU of ours")
	for i, p := range programs {
		slices.Sort(cpu[i])
		median := cpu[i][rounds/2]
		ratio := float64(cpu[0][rounds/2]) / float64(median)
		fmt.Printf("%-20s %9.1f ms %9.1f ms %8d MiB %13.2fx\n", p.name, millis(median), millis(cpu[i][0]), memory[i]>>10, ratio)
	}
	fmt.Println()
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// streams times many fleets in one stream: rendered, and compared with a state in which all of them change, on one core and on two.
func streams(ours, dir string) error {
	fmt.Printf("Many fleets in one stream\n\n")
	fmt.Printf("%-8s %8s %6s %12s %12s %14s %12s\n", "", "fleets", "cores", "wall", "CPU", "fleets/s", "memory")
	old, changed := filepath.Join(dir, "stream.yaml"), filepath.Join(dir, "changed.yaml")
	for _, n := range []int{1000, 2500, 5000, 10_000, 20_000} {
		if err := errors.Join(writeStream(old, n, "celld-runtime"), writeStream(changed, n, "celld-other")); err != nil {
			return err
		}
		for _, args := range [][]string{{"render", old}, {"plan", old, changed}} {
			for _, cores := range []int{1, 2} {
				u, err := run([]string{fmt.Sprintf("GOMAXPROCS=%d", cores)}, os.DevNull, append([]string{ours}, args...)...)
				if err != nil {
					return err
				}
				fmt.Printf("%-8s %8d %6d %9.0f ms %9.0f ms %14.0f %8d MiB\n",
					args[0], n, cores, millis(u.wall), millis(u.cpu), float64(n)/u.wall.Seconds(), u.memory>>10)
			}
		}
	}
	return nil
}

type usage struct {
	wall   time.Duration
	cpu    time.Duration
	memory int64 // KiB, the most that was resident
}

// run runs a program with its standard output going to a file.
func run(env []string, stdout string, args ...string) (usage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := os.OpenFile(stdout, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usage{}, err
	}
	defer out.Close() //nolint:errcheck // checked through the program's exit
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	u := usage{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss
	}
	return u, nil
}

func commandOutput(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute) // a first run builds helm
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
