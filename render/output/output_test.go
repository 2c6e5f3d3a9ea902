// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

const fleet = `apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  serviceAccountName: celld-runtime
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  storage: {bucket: my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [a, b, c]}
`

func read(t *testing.T, text string) *source.Set {
	t.Helper()
	set, err := source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(text)})
	require.NoError(t, err)
	return set
}

func files(t *testing.T, text string) *Files {
	t.Helper()
	f, _, err := NewFiles(read(t, text), render.Options{})
	require.NoError(t, err)
	return f
}

type brokenPipe struct{ left int }

func (w *brokenPipe) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestStreamReportsFailedWrites(t *testing.T) {
	set := read(t, fleet)
	for _, size := range []int{0, 10} {
		_, err := Stream(&brokenPipe{left: size}, set, render.Options{})
		require.ErrorContains(t, err, "writing: broken pipe")
	}
	large := read(t, fleet+strings.Repeat("---\napiVersion: v1\nkind: Event\nmetadata: {generateName: a}\nnote: "+strings.Repeat("x", 5000)+"\n", 50))
	_, err := Stream(&brokenPipe{left: 1 << 16}, large, render.Options{})
	require.ErrorContains(t, err, "writing: broken pipe")
}

// TestStreamAndFilesAgree puts the files of a directory together in the order of their kustomization: it is the stream.
func TestStreamAndFilesAgree(t *testing.T) {
	text := "# kept\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" + fleet
	var stream bytes.Buffer
	_, err := Stream(&stream, read(t, text), render.Options{})
	require.NoError(t, err)
	f := files(t, text)
	var joined strings.Builder
	for _, name := range f.names {
		if name != kustomizationFile {
			joined.WriteString("---\n" + strings.TrimPrefix(string(f.text[name]), marker))
		}
	}
	require.Equal(t, stream.String(), joined.String())
}

// TestDirectoryBuilds reads what was written back through its kustomization: the same objects.
func TestDirectoryBuilds(t *testing.T) {
	dir := t.TempDir()
	objects := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: c}\n"
	changed, err := files(t, objects).Write(dir)
	require.NoError(t, err)
	require.Equal(t, 3, changed)
	set, err := source.Read([]string{dir}, source.Options{})
	require.NoError(t, err)
	require.Len(t, set.Documents, 2)
	require.Equal(t, "ConfigMap c/b", set.Documents[1].ID.String())
}

func TestStagedFilesGoAway(t *testing.T) {
	dir := t.TempDir()
	s := staged{dir: dir, files: map[string]string{}}
	require.NoError(t, s.add("a.yaml", []byte("a")))
	require.NoError(t, s.add("b.yaml", []byte("b")))
	require.NoError(t, s.move("a.yaml"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "b.yaml"), 0o700))
	require.Error(t, s.move("b.yaml"), "a directory is in the way")
	s.discard()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	info, err := os.Stat(filepath.Join(dir, "a.yaml"))
	require.NoError(t, err)
	require.Equal(t, "-rw-r--r--", info.Mode().String())
	require.Error(t, (&staged{dir: filepath.Join(dir, "nowhere"), files: map[string]string{}}).add("c.yaml", nil))
}

// TestAFailedChangeIsUndone puts a directory in the way of the last file, as somebody could meanwhile.
func TestAFailedChangeIsUndone(t *testing.T) {
	dir := t.TempDir()
	object := func(name, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: " + value + "}\n---\n"
	}
	_, err := files(t, object("kept", "x")+object("changed", "x")+object("stale", "x")).Write(dir)
	require.NoError(t, err)
	f := files(t, object("kept", "x")+object("changed", "y")+object("new", "x")+object("z", "x"))
	found, err := f.existing(dir)
	require.NoError(t, err)
	s := staged{dir: dir, files: map[string]string{}}
	for _, name := range f.names {
		require.NoError(t, s.add(name, f.text[name]))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "configmap_z.yaml"), 0o700))
	done, err := f.change(dir, found, &s)
	require.Error(t, err)
	require.Equal(t, []string{"configmap_kept.yaml", "configmap_changed.yaml", "configmap_new.yaml"}, done)
	require.NoError(t, undo(dir, found, done))
	s.discard()
	require.NoError(t, os.Remove(filepath.Join(dir, "configmap_z.yaml")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(found))
	for name, text := range found {
		now, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, string(text), string(now))
	}
}

func TestDirectoriesAreMadeFromTheTop(t *testing.T) {
	dir := t.TempDir()
	made, err := makeDirectory(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")}, made)
	made, err = makeDirectory(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	require.Empty(t, made)
}

func TestOwnText(t *testing.T) {
	tests := map[string]struct {
		name, text string
		want       bool
	}{
		"ours":                    {"a.yaml", marker + "a: b\n", true},
		"ours with other ends":    {"a.yaml", strings.ReplaceAll(marker+"a: b\n", "\n", "\r\n"), true},
		"ours but for the name":   {"a.txt", marker + "a: b\n", false},
		"theirs":                  {"a.yaml", "a: b\n", false},
		"a longer first line":     {"a.yaml", strings.TrimSuffix(marker, "\n") + " Really.\n", false},
		"the marker further down": {"a.yaml", "\n" + marker, false},
		"empty":                   {"a.yaml", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, tt.name), []byte(tt.text), 0o600))
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			text, err := ownText(dir, entries[0])
			require.NoError(t, err)
			require.Equal(t, tt.want, text != nil)
		})
	}
}
