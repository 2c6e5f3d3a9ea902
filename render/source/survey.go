// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// A survey reads the kustomizations that a build is going to read. It says what is wrong in terms of file, line and field,
// and it refuses whatever kustomize would fetch: rendering depends on nothing but the files at hand.
type survey struct {
	seen map[string]*work // of each directory
	// repository is the directory that no kustomization leads out of, "" for none.
	repository string
	// holdFleets are the files, followed, that kustomizations list as resources and that hold a fleet, as they are to be called.
	holdFleets map[string]string
	// spent is the work of everything that was read, each directory counted once.
	spent    float64
	problems Problems
}

// directory surveys a kustomization and what it leads to, and returns its work. It reports whether there is one.
func (s *survey) directory(dir string) (*work, bool) {
	at := followed(dir)
	if w := s.seen[at]; w != nil {
		return w, true
	}
	w := &work{}
	s.seen[at] = w
	name, err := findKustomization(dir)
	if err != nil {
		s.problems = append(s.problems, asProblems(err)...)
		return w, true
	}
	if name == "" {
		return w, false
	}
	file := filepath.Join(dir, name)
	if problem := leadsOut(file); problem != nil {
		s.problems = append(s.problems, *problem)
		return w, true
	}
	k := &surveyed{survey: s, file: file, dir: dir, work: w}
	if !k.read() {
		return w, true // kustomize says it
	}
	if pos, problem := checkText(k.text); problem != "" {
		k.fail(pos, "", "%s", problem)
		return w, true
	}
	for d := range split(k.text) {
		if d.blank() {
			continue
		}
		nodes, flaws := parse(file, d)
		k.flaws(flaws, true)
		for _, n := range nodes {
			k.kustomization(n)
		}
	}
	w.done()
	return w, true
}

// count adds the maps and lists of a node to the work.
func (k *surveyed) count(n *tree.Node) {
	before := k.work.units
	k.work.node(n)
	k.spent += k.work.units - before
}

// read reads the file, unless there was too much work before it, or is with it.
func (k *surveyed) read() bool {
	info, err := os.Stat(k.file)
	if err != nil || !info.Mode().IsRegular() || k.spent > maxWork {
		return false
	}
	before := k.work.units
	k.work.file(info.Size())
	if k.spent += k.work.units - before; k.spent > maxWork {
		return false
	}
	k.text, err = os.ReadFile(k.file)
	return err == nil
}

// surveyed is one kustomization, or a file beside it.
type surveyed struct {
	*survey
	file, dir string
	text      []byte
	work      *work // of the kustomization
	// outer is the kustomization that the text is part of, if it is, and inline its place there.
	outer  *surveyed
	inline tree.Pos
}

func (k *surveyed) fail(pos tree.Pos, path, format string, args ...any) {
	k.report(Problem{File: k.file, Pos: Pos(pos), Field: path, Message: fmt.Sprintf(format, args...)})
}

func (k *surveyed) report(problems ...Problem) {
	for _, p := range problems {
		if k.outer != nil {
			p.Pos = k.outside(p.Pos)
		}
		k.problems = append(k.problems, p)
	}
}

// outside is a place of the text in the kustomization around it: exact where the text is a block, whose lines stand there as
// they are, and else that of the text.
func (k *surveyed) outside(pos Pos) Pos {
	inner, outer := bytes.Split(k.text, []byte("\n")), bytes.Split(k.outer.text, []byte("\n"))
	in, out := int(pos.Line)-1, int(k.inline.Line)+int(pos.Line)-1
	if in < 0 || in >= len(inner) || out >= len(outer) || !bytes.HasSuffix(bytes.TrimSuffix(outer[out], []byte("\r")), inner[in]) {
		return Pos(k.inline)
	}
	indent := len(bytes.TrimSuffix(outer[out], []byte("\r"))) - len(inner[in])
	return Pos(tree.PosAt(out+1, int(pos.Column)+indent))
}

func (k *surveyed) kustomization(n *tree.Node) {
	k.spelling(n, reflect.TypeFor[types.Kustomization](), nil)
	k.count(n)
	for _, f := range n.Fields {
		if !slices.Contains(pathKeys, f.Key) {
			k.work.operations += float64(len(f.Value.Items))
		}
		if strings.HasPrefix(f.Key, "helmChart") && len(f.Value.Items) > 0 {
			k.fail(f.Pos, f.Key, "needs helm, which is not run here: render the chart to a file, and list that under resources")
			continue
		}
		k.value(f.Key, f.Value, trail{{key: f.Key}})
	}
	if patches := n.Get("patches"); patches != nil {
		for _, item := range patches.Items {
			if patch := item.Get("patch"); patch != nil && patch.Kind == tree.String {
				k.inlined(patch, "patches")
			}
		}
	}
}

// inlined surveys a file that is part of a kustomization.
func (k *surveyed) inlined(n *tree.Node, field string) {
	(&surveyed{survey: k.survey, file: k.file, dir: k.dir, work: k.work, text: []byte(n.Text), outer: k, inline: n.Pos}).content(field)
}

// pathKeys are the fields of kustomizations, and of the configuration of built-in plugins, that hold paths.
var pathKeys = []string{"resources", "bases", "components", "crds", "configurations", "generators", "transformers",
	"validators", "patchesStrategicMerge", "path", "paths", "files", "envs", "env", "targetFilePath", "valuesFile",
	"additionalValuesFiles"}

// value looks for paths in a field and below it.
func (k *surveyed) value(key string, n *tree.Node, at trail) {
	isPath := slices.Contains(pathKeys, key)
	switch {
	case n.Kind == tree.String && isPath:
		k.entry(n, at)
	case n.Kind == tree.Map:
		for _, f := range n.Fields {
			k.value(f.Key, f.Value, append(at[:len(at):len(at)], step{key: f.Key}))
		}
	case n.Kind == tree.List:
		for i, item := range n.Items {
			below := append(at[:len(at):len(at)], step{index: i, list: true})
			if item.Kind == tree.String {
				k.value(key, item, below)
			} else {
				k.value("", item, below)
			}
		}
	}
}

// entry checks one path. Text of several lines is the file itself.
func (k *surveyed) entry(n *tree.Node, at trail) {
	path := n.Text
	if strings.Contains(path, "\n") {
		k.inlined(n, at[0].key)
		return
	}
	if strings.HasSuffix(strings.ToLower(at[0].key), "generator") {
		path = path[strings.IndexByte(path, '=')+1:]
	}
	if remote(path) {
		k.fail(n.Pos, at.String(), "%s %s", path, notFetched)
		return
	}
	if !namesFile(at) {
		return
	}
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(k.dir, path)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		for _, p := range asProblems(pathError(file, err)) {
			k.fail(n.Pos, at.String(), "%s: %s", p.File, p.Message)
		}
	case info.IsDir() && k.repository != "" && !inside(k.repository, file):
		k.fail(n.Pos, at.String(), "%s is outside of the repository %s: copy it there", file, asWritten(k.repository))
	case info.IsDir():
		listed, found := k.directory(file)
		if !found {
			k.fail(n.Pos, at.String(), "%s is a directory without a kustomization: add one, or list its files", file)
		}
		k.work.build(*listed)
	case !info.Mode().IsRegular():
		k.fail(n.Pos, at.String(), "%s is neither a file nor a directory", file)
	case !inside(k.dir, file):
		k.fail(n.Pos, at.String(), "%s is outside the directory of this file, where kustomize reads none: move it below, "+
			"or give it a kustomization of its own and list its directory", file)
	default:
		listed := &surveyed{survey: k.survey, file: file, dir: k.dir, work: k.work}
		if !listed.read() {
			return // kustomize says it
		}
		if key := at[len(at)-1].key; key == "env" || len(at) > 2 && at[len(at)-2].key == "envs" {
			k.work.lines(listed.text)
		}
		listed.content(at[0].key)
	}
}

// namesFile says whether a path of a kustomization names a file or a directory that must be there.
func namesFile(at trail) bool {
	switch at[0].key {
	case "resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
		"patchesStrategicMerge":
		return len(at) == 2
	case "patches", "patchesJson6902", "replacements":
		return len(at) == 3 && at[2].key == "path"
	case "openapi":
		return len(at) == 2
	case "configMapGenerator", "secretGenerator":
		return true
	}
	return false
}

// remoteSource matches what kustomize would fetch: URLs, and repositories as Git writes them.
var remoteSource = regexp.MustCompile(`(?i)^(git::)?([a-z][-+.a-z0-9]*://|https?:|[a-z][-a-z0-9]*@|github\.com[/:])`)

func remote(path string) bool { return remoteSource.MatchString(path) }

// asWritten is an absolute path as people write it, from the current directory.
func asWritten(path string) string {
	if short, err := filepath.Rel(followed("."), path); err == nil {
		return short
	}
	return path
}

// inside says whether a file is in a directory or below it, symbolic links followed.
func inside(dir, file string) bool {
	path, err := filepath.Rel(followed(dir), followed(file))
	return err == nil && fs.ValidPath(filepath.ToSlash(path))
}

// followed is the absolute path behind symbolic links, or as much of it as there is.
func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}
