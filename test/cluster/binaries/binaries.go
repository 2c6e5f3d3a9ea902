// SPDX-License-Identifier: Apache-2.0

// Package binaries builds the programs of the test control plane and keeps
// them in a cache outside the source tree. The cache is keyed by everything
// that decides what is built: the sources and pinned versions of the builder's
// module, the Go release and the platform. So a change builds anew and two
// checkouts at one revision share one build.
package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// KubernetesVersion is what the programs call themselves. A test holds it to
// the version that the builder's module requires.
const KubernetesVersion = "v1.36.3"

// CacheEnv names the variable that overrides the place of the cache.
const CacheEnv = "FLEETWRIGHT_CLUSTER_CACHE"

// ErrNotBuilt is returned by Find when the programs have to be built first.
var ErrNotBuilt = errors.New("the programs of the test control plane are not built: run `make cluster-bin`")

// program is the one binary that holds all of them, and the package of it.
const program = "controlplane"

// Find returns the path of the programs for the sources in this tree.
func Find() (string, error) {
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	return b.find()
}

// Build makes sure that the programs exist and returns their path. Progress
// goes to out. It is safe to run several at a time: one builds, the others
// wait for it and find the result.
func Build(ctx context.Context, out io.Writer) (string, error) {
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	return b.build(ctx, out)
}

// builder builds one module into one cache.
type builder struct{ source, cache string }

func newBuilder() (builder, error) {
	source, err := sourceDir()
	if err != nil {
		return builder{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return builder{}, err
	}
	return builder{source: source, cache: cache}, nil
}

// sourceDir is the builder's module, which lies beside this package. It cannot
// be embedded, because it is another module.
func sourceDir() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(filepath.Dir(file)), "build")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("finding the module that builds the control plane (built with -trimpath?): %w", err)
	}
	return dir, nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory (set %s): %w", CacheEnv, err)
	}
	return filepath.Join(user, "fleetwright"), nil
}

func (b builder) find() (string, error) {
	path, err := b.target()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotBuilt
	} else if err != nil {
		return "", err
	}
	return path, nil
}

// target is where the programs belong.
func (b builder) target() (string, error) {
	key, err := sourceKey(b.source)
	if err != nil {
		return "", err
	}
	return filepath.Join(b.cache, "cluster-"+KubernetesVersion+"-"+key, program), nil
}

// sourceKey is a digest of what decides the result of a build.
func sourceKey(dir string) (string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	slices.Sort(files)

	sum := sha256.New()
	fmt.Fprintln(sum, KubernetesVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, path := range files {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return "", err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(name), len(content), content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
