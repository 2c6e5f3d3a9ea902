// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func (b builder) build(ctx context.Context, out io.Writer) (string, error) {
	path, err := b.target()
	if err != nil {
		return "", err
	}
	unlock, err := lock(ctx, filepath.Dir(path)+".lock", out)
	if err != nil {
		return "", err
	}
	defer unlock()

	if _, err := b.find(); err == nil {
		fmt.Fprintln(out, "up to date:", path)
		return path, nil
	}
	started := time.Now()
	if err := b.compile(ctx, path, out); err != nil {
		return "", err
	}
	fmt.Fprintf(out, "built in %s: %s\n", time.Since(started).Round(time.Second), path)
	return path, nil
}

// lock holds a file lock until the returned function is called. The kernel
// releases it when the process ends, so no stale lock can remain.
func lock(ctx context.Context, path string, out io.Writer) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for first := true; ; first = false {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = file.Close() }, nil
		}
		if first {
			fmt.Fprintln(out, "waiting for another build, which holds", path)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another build, which holds %s: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}

// compile builds into a temporary directory and renames it, so that a build
// that was interrupted leaves nothing that looks finished.
func (b builder) compile(ctx context.Context, path string, out io.Writer) error {
	temp, err := os.MkdirTemp(b.cache, "building-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()

	fmt.Fprintf(out, "building %s\nfrom Go modules; a first build takes up to a quarter of an hour on two cores\n", b.set.what)
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", strings.Join(append([]string{"-s", "-w"}, b.set.ldflags...), " "), "-o", filepath.Join(temp, b.set.program), b.set.pkg)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if err := runWithProgress(cmd, out); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Dir(path))
}

// kubernetesFlags stamp the version, without which the programs would call
// themselves v0.0.0-master.
func kubernetesFlags() []string {
	parts := strings.SplitN(strings.TrimPrefix(KubernetesVersion, "v"), ".", 3)
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+KubernetesVersion,
			"-X", pkg+".gitMajor="+parts[0],
			"-X", pkg+".gitMinor="+parts[1],
			"-X", pkg+".gitTreeState=clean")
	}
	return flags
}

// runWithProgress counts the packages that `go build -v` names, tells the
// count from time to time, and shows every other line as it is. It prints
// nothing on stdout.
func runWithProgress(cmd *exec.Cmd, out io.Writer) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}

	started, told, packages := time.Now(), time.Now(), 0
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if line := lines.Bytes(); isPackage(line) {
			packages++
		} else if !bytes.HasPrefix(line, []byte("go: downloading ")) {
			fmt.Fprintln(out, string(line))
		}
		if time.Since(told) >= 15*time.Second {
			told = time.Now()
			fmt.Fprintf(out, "%4d packages compiled, %s\n", packages, time.Since(started).Round(time.Second))
		}
	}
	return cmd.Wait()
}

// isPackage tells an import path from a message of the compiler.
func isPackage(line []byte) bool {
	return len(line) > 0 && !bytes.ContainsAny(line, " \t:#")
}
