// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/fleetwright/fleetwright/render/source"
)

// existing are the files of a directory that belong to the output, by name. A file of one of our names that is somebody
// else's is a Problem: it would be lost.
func (f *Files) existing(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the output directory: %w", err)
	}
	found := map[string][]byte{}
	var problems source.Problems
	for _, e := range entries {
		text, err := ownText(dir, e)
		if err != nil {
			return nil, fmt.Errorf("reading the output directory: %w", err)
		}
		_, wanted := f.text[e.Name()]
		switch {
		case text != nil:
			found[e.Name()] = text
		case wanted:
			problems = append(problems, source.Problem{File: filepath.Join(dir, e.Name()),
				Message: "was not rendered by fleetwright and would be overwritten: render to a directory of its own, or remove the file"})
		case slices.Contains(konfig.RecognizedKustomizationFileNames(), e.Name()):
			problems = append(problems, source.Problem{File: filepath.Join(dir, e.Name()),
				Message: "is a kustomization beside the one that is rendered, and kustomize takes one only: render to a directory of its own, or remove the file"})
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return found, nil
}

// ownText returns the text of a file that an earlier run wrote, nil for any other.
func ownText(dir string, e fs.DirEntry) ([]byte, error) {
	if filepath.Ext(e.Name()) != ".yaml" || !e.Type().IsRegular() {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, e.Name()))
	if err != nil {
		return nil, err
	}
	// Git may have checked the file out with other line ends.
	if rest, ours := bytes.CutPrefix(text, []byte(strings.TrimSuffix(marker, "\n"))); ours && bytes.HasPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n")) {
		return text, nil
	}
	return nil, nil
}

// Check returns the differences between a directory and what it should hold, as a unified diff, "" when there are none.
func (f *Files) Check(dir string) (string, error) {
	found, err := f.existing(dir)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range f.union(found) {
		path := filepath.Join(dir, name)
		before, after := "a/"+path, "b/"+path
		if _, there := found[name]; !there {
			before = os.DevNull
		}
		if _, wanted := f.text[name]; !wanted {
			after = os.DevNull
		}
		switch {
		case bytes.Equal(found[name], f.text[name]):
		case isSecret(name):
			fmt.Fprintf(&out, "diff %s %s\n--- %s\n+++ %s\n(a Secret, whose content is not shown)\n", before, after, before, after)
		default:
			out.Write(diff.Diff(before, found[name], after, f.text[name]))
		}
	}
	return out.String(), nil
}

// isSecret keeps what is secret out of logs: differences end up in those of CI. File names hold the kind.
func isSecret(name string) bool {
	return strings.Contains("_"+name, "_secret_") || strings.Contains("_"+name, "_secret.")
}

// Write makes a directory hold exactly these files, beside those that are not ours. Files that are right stay untouched, nothing
// changes before all of the new text is on the disk, and a change that fails is undone.
func (f *Files) Write(dir string) (changed int, err error) {
	found, err := f.existing(dir)
	if err != nil {
		return 0, err
	}
	made, err := makeDirectory(dir)
	defer func() {
		for i := len(made); err != nil && i > 0; i-- {
			_ = os.Remove(made[i-1]) // what is in it is somebody else's by now
		}
	}()
	if err != nil {
		return 0, fmt.Errorf("creating the output directory: %w", err)
	}
	s := staged{dir: dir, files: map[string]string{}}
	defer s.discard()
	for _, name := range f.names {
		if old, there := found[name]; there && bytes.Equal(old, f.text[name]) {
			continue
		}
		if err := s.add(name, f.text[name]); err != nil {
			return 0, fmt.Errorf("writing to the output directory: %w", err)
		}
	}
	done, err := f.change(dir, found, &s)
	if err != nil {
		return 0, fmt.Errorf("updating the output directory: %w", errors.Join(err, undo(dir, found, done)))
	}
	return len(done), nil
}

// change moves what waits to its place and removes what is stale. It returns the names of the files that it changed.
func (f *Files) change(dir string, found map[string][]byte, s *staged) (done []string, err error) {
	for _, name := range f.union(found) {
		_, wanted := f.text[name]
		_, isNew := s.files[name]
		switch {
		case isNew:
			err = s.move(name)
		case !wanted:
			err = os.Remove(filepath.Join(dir, name))
		default:
			continue
		}
		if err != nil {
			return done, err
		}
		done = append(done, name)
	}
	return done, nil
}

// undo gives changed files the text that was found, or removes those that were not there.
func undo(dir string, found map[string][]byte, done []string) error {
	s := staged{dir: dir, files: map[string]string{}}
	defer s.discard()
	var failed []error
	for _, name := range done {
		old, there := found[name]
		if !there {
			failed = append(failed, os.Remove(filepath.Join(dir, name)))
		} else if err := s.add(name, old); err != nil {
			failed = append(failed, err)
		} else {
			failed = append(failed, s.move(name))
		}
	}
	return errors.Join(failed...)
}

// makeDirectory makes a directory and those above it, and returns the ones that were not there, from the top.
func makeDirectory(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, os.MkdirAll(dir, 0o755)
}

// union lists the names of both sides: what is to be there in its order, then what is to go, sorted.
func (f *Files) union(found map[string][]byte) []string {
	var stale []string
	for name := range found {
		if _, wanted := f.text[name]; !wanted {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	return slices.Concat(f.names, stale)
}

// staged are files that wait under other names beside their places, so that no reader sees half of one.
type staged struct {
	dir   string
	files map[string]string // where each waits, by name
}

func (s *staged) add(name string, text []byte) error {
	tmp, err := os.CreateTemp(s.dir, ".fleetwright-*")
	if err != nil {
		return err
	}
	s.files[name] = tmp.Name()
	_, err = tmp.Write(text)
	return errors.Join(err, tmp.Chmod(0o644), tmp.Close())
}

func (s *staged) move(name string) error {
	if err := os.Rename(s.files[name], filepath.Join(s.dir, name)); err != nil {
		return err
	}
	delete(s.files, name)
	return nil
}

// discard removes what still waits.
func (s *staged) discard() {
	for _, waiting := range s.files {
		_ = os.Remove(waiting) // nobody can be helped when that fails
	}
}
