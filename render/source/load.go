// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"sigs.k8s.io/kustomize/api/konfig"
)

// maxInput bounds one file.
const maxInput = 512 << 20

// An input is the text of a file, of a stream, or of what a kustomization builds.
type input struct {
	name  string
	text  []byte
	built bool // by kustomize, so that positions mean nothing
	item  bool // handed over by another tool, one document each
}

// StdinName stands for the standard input in problems.
const StdinName = "stdin"

// load finds the inputs that paths mean, in order. What is wrong with a path is a Problem.
func load(paths []string, opts Options) ([]input, error) {
	var inputs []input
	var problems Problems
	stdin := false
	for _, path := range paths {
		var found []input
		var err error
		switch {
		case path == "-" && stdin:
			err = &Problem{File: StdinName, Message: "named twice: give '-' once"}
		case path == "-":
			stdin = true
			found, err = loadStdin(opts.Stdin)
		default:
			found, err = loadPath(path, opts)
		}
		wrong := asProblems(err)
		if err != nil && wrong == nil {
			return nil, err
		}
		problems = append(problems, wrong...)
		inputs = append(inputs, found...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return inputs, nil
}

// asProblems returns the problems that an error lists, nothing for an error of another kind.
func asProblems(err error) Problems {
	var one *Problem
	var several Problems
	switch {
	case errors.As(err, &one):
		return Problems{*one}
	case errors.As(err, &several):
		return several
	}
	return nil
}

// Error makes a single problem an error.
func (p *Problem) Error() string { return p.String() }

func loadStdin(stdin io.Reader) ([]input, error) {
	text, err := io.ReadAll(io.LimitReader(stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading the standard input: %w", err)
	}
	if len(text) > maxInput {
		return nil, tooLarge(StdinName)
	}
	return []input{{name: StdinName, text: text}}, nil
}

func tooLarge(name string) error {
	return &Problem{File: name, Message: fmt.Sprintf("more than %d MiB: split it", maxInput>>20)}
}

func loadPath(path string, opts Options) ([]input, error) {
	if path == "" {
		return nil, &Problem{File: `""`, Message: "is an empty path: name a file, a directory, or '-' for the standard input"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if !info.IsDir() {
		if slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
			return nil, &Problem{File: path, Message: "is a kustomization: name its directory, " + filepath.Dir(path)}
		}
		in, err := loadFile(path, info)
		return []input{in}, err
	}
	inputs, found, err := loadDirectory(path, opts)
	switch {
	case err != nil || found:
		return inputs, err
	case opts.Recursive:
		return nil, &Problem{File: path, Message: "holds no .yaml, .yml or .json file and no kustomization, not in directories below it " +
			"either: name the files, or the right directory"}
	default:
		return nil, &Problem{File: path, Message: "holds no .yaml, .yml or .json file and no kustomization, and directories below it " +
			"are not read: name the files, or the right directory"}
	}
}

// loadDirectory builds a directory's kustomization or reads its files, and says whether there was any. Hidden ones belong to editors
// and other tools.
func loadDirectory(path string, opts Options) (inputs []input, found bool, err error) {
	kustomization, err := findKustomization(path)
	if err != nil || kustomization != "" {
		if err == nil {
			inputs, err = buildKustomization(path, kustomization, opts.Repository)
		}
		return inputs, true, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, false, pathError(path, err)
	}
	var problems Problems
	for _, e := range entries {
		var in []input
		name := filepath.Join(path, e.Name())
		switch {
		case e.Name()[0] == '.':
			continue
		case opts.Recursive && e.IsDir():
			var below bool
			in, below, err = loadDirectory(name, opts)
			found = found || below
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())):
			in, err = loadEntry(name)
			found = found || len(in) > 0
		}
		wrong := asProblems(err)
		if err != nil && wrong == nil {
			return nil, true, err
		}
		problems = append(problems, wrong...)
		inputs = append(inputs, in...)
		err = nil
	}
	if len(problems) > 0 {
		return nil, true, problems
	}
	return inputs, found, nil
}

// loadEntry reads an entry of a directory, unless it is a directory itself.
func loadEntry(name string) ([]input, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, pathError(name, err)
	}
	if info.IsDir() {
		return nil, nil
	}
	if !info.Mode().IsRegular() {
		return nil, &Problem{File: name, Message: "is neither a file nor a directory: remove it, or name the files"}
	}
	if problem := leadsOut(name); problem != nil {
		problem.Message += ", or name it"
		return nil, problem
	}
	in, err := loadFile(name, info)
	return []input{in}, err
}

// leadsOut is the problem of a file that is a symbolic link out of its directory, nil for any other. Who may write the directory
// need not be allowed to read what the link leads to.
func leadsOut(name string) *Problem {
	if target, err := os.Readlink(name); err == nil && !inside(filepath.Dir(name), name) {
		return &Problem{File: name, Message: "a symbolic link out of this directory, to " + target + ": copy the file here"}
	}
	return nil
}

func loadFile(path string, info fs.FileInfo) (input, error) {
	if !info.Mode().IsRegular() && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0 {
		return input{}, &Problem{File: path, Message: "is neither a file nor a directory"}
	}
	f, err := os.Open(path)
	if err != nil {
		return input{}, pathError(path, err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err != nil {
		return input{}, pathError(path, err)
	}
	if len(text) > maxInput {
		return input{}, tooLarge(path)
	}
	return input{name: path, text: text}, nil
}

// pathError turns what a user can mend into a problem; anything else stays an error of the machine.
func pathError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if target, err := os.Readlink(path); err == nil {
			return &Problem{File: path, Message: "a symbolic link to " + target + ", which is not there: mend or remove it"}
		}
		return &Problem{File: path, Message: "no such file or directory"}
	case errors.Is(err, syscall.ELOOP):
		return &Problem{File: path, Message: "a symbolic link that leads back to itself: remove it"}
	default:
		return fmt.Errorf("reading %s: %w", path, err)
	}
}
