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
var ErrNotBuilt = errors.New("run `make cluster-bin`")

// Set is one binary of programs and the module that builds it, which lies
// beside this package. Each is a module of its own, so that what it requires
// decides nothing for the tests.
type Set struct {
	what    string   // it holds, for people
	source  string   // directory of the module
	pkg     string   // package of the binary
	program string   // name of the binary
	version string   // what the programs call themselves, if the build tells them
	ldflags []string // that tell them
}

// The sets.
var (
	ControlPlane = Set{
		what:   "etcd, kube-apiserver, kube-controller-manager, kube-scheduler " + KubernetesVersion + " and kwok",
		source: "build", pkg: "./controlplane", program: "controlplane", version: KubernetesVersion, ldflags: kubernetesFlags(),
	}
	ArgoCD = Set{
		what:   "the programs of Argo CD",
		source: "build-argocd", pkg: "github.com/argoproj/argo-cd/v3/cmd", program: "argocd",
	}
	Flux = Set{
		what:   "kustomize-controller of Flux",
		source: "build-flux", pkg: "github.com/fluxcd/kustomize-controller", program: "kustomize-controller",
	}
)

// Sets are all of them, in the order in which they are built.
var Sets = []Set{ControlPlane, ArgoCD, Flux}

// Find returns the path of the programs for the sources in this tree.
func (s Set) Find() (string, error) {
	b, err := newBuilder(s)
	if err != nil {
		return "", err
	}
	return b.find()
}

// Build makes sure that the programs exist and returns their path. Progress
// goes to out. It is safe to run several at a time: one builds, the others
// wait for it and find the result.
func (s Set) Build(ctx context.Context, out io.Writer) (string, error) {
	b, err := newBuilder(s)
	if err != nil {
		return "", err
	}
	return b.build(ctx, out)
}

// builder builds the module of one set into one cache.
type builder struct {
	set           Set
	source, cache string
}

func newBuilder(set Set) (builder, error) {
	source, err := set.sourceDir()
	if err != nil {
		return builder{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return builder{}, err
	}
	return builder{set: set, source: source, cache: cache}, nil
}

// sourceDir is the module's. It cannot be embedded, because it is another
// module.
func (s Set) sourceDir() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(filepath.Dir(file)), s.source)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("finding the module that builds %s (built with -trimpath?): %w", s.what, err)
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
		return "", fmt.Errorf("%s: not built: %w", b.set.what, ErrNotBuilt)
	} else if err != nil {
		return "", err
	}
	return path, nil
}

// target is where the programs belong.
func (b builder) target() (string, error) {
	key, err := b.sourceKey()
	if err != nil {
		return "", err
	}
	return filepath.Join(b.cache, b.set.program+"-"+key, b.set.program), nil
}

// sourceKey is a digest of what decides the result of a build.
func (b builder) sourceKey() (string, error) {
	var files []string
	err := filepath.WalkDir(b.source, func(path string, entry fs.DirEntry, err error) error {
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
	fmt.Fprintln(sum, b.set.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, path := range files {
		name, err := filepath.Rel(b.source, path)
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
