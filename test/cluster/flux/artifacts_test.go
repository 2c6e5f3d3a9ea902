// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// artifacts serves archives of directories, as source-controller does.
type artifacts struct {
	url   string
	mu    sync.Mutex
	files map[string][]byte // by path
}

func serveArtifacts(t *testing.T) *artifacts {
	t.Helper()
	a := &artifacts{files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		file := a.files[r.URL.Path]
		a.mu.Unlock()
		if file == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(file)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// publish makes a directory the artifact of a source, and returns its revision.
// It does what source-controller does when it has fetched a commit or an image.
func (f *flux) publish(t *testing.T, kind, name, dir string) (revision string) {
	t.Helper()
	archive := archive(t, dir)
	digest := fmt.Sprintf("%x", sha256.Sum256(archive))
	revision = "main@sha1:" + digest[:40]
	if kind == "OCIRepository" {
		revision = "production@sha256:" + digest
	}
	path := fmt.Sprintf("/%s/%s/%d.tar.gz", kind, name, time.Now().UnixNano())
	f.artifacts.mu.Lock()
	f.artifacts.files[path] = archive
	f.artifacts.mu.Unlock()

	source := &unstructured.Unstructured{}
	source.SetAPIVersion("source.toolkit.fluxcd.io/v1")
	source.SetKind(kind)
	require.NoError(t, f.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: name}, source))
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"observedGeneration": source.GetGeneration(),
		"artifact": map[string]any{
			"path": path, "url": f.artifacts.url + path, "revision": revision, "size": len(archive),
			"digest": "sha256:" + digest, "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact for revision " + revision,
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": source.GetGeneration(),
		}},
	}})
	require.NoError(t, err)
	require.NoError(t, f.Client.Status().Patch(t.Context(), source, client.RawPatch(types.MergePatchType, status)))
	return revision
}

func archive(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	files := tar.NewWriter(compressed)
	require.NoError(t, files.AddFS(os.DirFS(filepath.Clean(dir))))
	require.NoError(t, files.Close())
	require.NoError(t, compressed.Close())
	return out.Bytes()
}
