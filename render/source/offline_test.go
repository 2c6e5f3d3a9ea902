// SPDX-License-Identifier: Apache-2.0

package source

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKustomizeItselfIsOffline gives kustomize what the survey would have refused: nobody is called, and the message says why.
func TestKustomizeItselfIsOffline(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	defer server.Close()
	bin := t.TempDir()
	ran := filepath.Join(bin, "ran")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\ntouch "+ran+"\nexit 1\n"), 0o700))
	t.Setenv("PATH", bin)
	transport := http.DefaultTransport
	for name, kustomization := range map[string]string{
		"a file over HTTP":        "resources: [SERVER/a.yaml]\n",
		"in capitals":             "Resources: [SERVER/a.yaml]\n",
		"a local repository":      "resources: [file:///a/b.git]\n",
		"a repository over SSH":   "resources: [git@example.invalid:a/b]\n",
		"a file of a generator":   "configMapGenerator: [{name: a, Files: [a=SERVER/a]}]\n",
		"a patched configuration": "generators: [generators]\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"kustomization.yaml": kustomization,
				"generators/kustomization.yaml": "resources: [generator.yaml]\npatches:\n" +
					"- {target: {kind: ConfigMapGenerator}, patch: '- {op: replace, path: /files/0, value: a=SERVER/a}'}\n",
				"generators/generator.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [a.txt]\n",
			} {
				path := filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "SERVER", server.URL)), 0o600))
			}
			_, err := runKustomize(dir, nil)
			require.Error(t, err)
			require.Contains(t, kustomizeMessage(err), "is remote, and nothing is fetched here")
			require.Zero(t, calls)
			require.NoFileExists(t, ran)
			require.Equal(t, bin, os.Getenv("PATH"))
			require.Equal(t, transport, http.DefaultTransport)
		})
	}
}
