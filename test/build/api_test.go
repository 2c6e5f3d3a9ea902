// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/fleetwright/fleetwright/"

// public are the packages that other programs may import: ARCHITECTURE.md promises them, and nothing else.
var public = []string{module + "api/v1alpha1", module + "render", module + "render/output", module + "render/source"}

// What other programs cannot name must not be part of what they call.
func TestAPINamesNothingInternal(t *testing.T) {
	packages := compiled(t)
	for _, path := range public {
		p, err := packages.Import(path)
		require.NoError(t, err)
		require.Empty(t, leaks(p), path)
	}
}

// A package beside the public ones is public as well, unless it is internal.
func TestNothingElseIsPublic(t *testing.T) {
	out, err := exec.Command("go", "list", "../../api/...", "../../render/...").Output()
	require.NoError(t, err)
	require.Equal(t, public, strings.Fields(string(out)))
}

// The check sees every place in which a type can stand.
func TestLeaksAreFound(t *testing.T) {
	const text = `package leaky
import ("` + module + `internal/tree"; "` + module + `render")
func Parameter(...map[string]*tree.Node) {}
func Result() (n func(tree.Kind) error) { return }
func Constrained[T interface{ *tree.Node }](T) {}
type Alias = tree.ID
type Struct struct { Field []tree.Pos; hidden tree.Pos }
type Embedded struct { embedded }
type embedded struct { Inner chan tree.Field }
func (*embedded) Method() [2]tree.Node { panic(0) }
type Interface interface { Get(tree.Kind) }
type Generic[T any] struct{}
var Variable Generic[tree.Kind]
const Constant = tree.Null
func Fine(render.Objects, *Struct) {}
`
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "leaky.go", text, 0)
	require.NoError(t, err)
	p, err := (&types.Config{Importer: compiled(t)}).Check("leaky", files, []*ast.File{f}, nil)
	require.NoError(t, err)
	var want []string
	for _, place := range []string{"Alias: ID", "Constant: Kind", "Constrained: Node", "Embedded.Inner: Field", "Embedded.Method: Node",
		"Interface.Get: Kind", "Parameter: Node", "Result: Kind", "Struct.Field: Pos", "Variable: Kind"} {
		name, typ, _ := strings.Cut(place, ": ")
		want = append(want, name+" names "+module+"internal/tree."+typ)
	}
	require.Equal(t, want, leaks(p))
}

// compiled imports packages as the build compiled them.
func compiled(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", "../../render/...").Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// leaks lists the exported names of a package that name a type of an internal one of this module.
func leaks(p *types.Package) []string {
	var found []string
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			w := walker{pkg: p, seen: map[types.Type]bool{}}
			w.object(name, o)
			found = append(found, w.found...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

type walker struct {
	pkg   *types.Package
	seen  map[types.Type]bool
	found []string
}

func (w *walker) object(at string, o types.Object) {
	named, ok := o.Type().(*types.Named)
	if _, declared := o.(*types.TypeName); declared && ok {
		w.declared(at, named)
		return
	}
	w.typ(at, o.Type())
}

// declared walks what a type of the package itself lets others see.
func (w *walker) declared(at string, n *types.Named) {
	if w.seen[n] {
		return
	}
	w.seen[n] = true
	w.typ(at, n.Underlying())
	for m := range n.Methods() {
		if m.Exported() {
			w.typ(at+"."+m.Name(), m.Type())
		}
	}
}

func (w *walker) typ(at string, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		w.named(at, t)
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel, or a map with its key
		if m, ok := t.(*types.Map); ok {
			w.typ(at, m.Key())
		}
		w.typ(at, t.Elem())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			w.typ(at, p.Constraint())
		}
		w.typ(at, t.Params())
		w.typ(at, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.typ(at, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() {
				w.typ(at, f.Type())
			} else if f.Exported() {
				w.typ(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			w.typ(at+"."+m.Name(), m.Type())
		}
		for e := range t.EmbeddedTypes() {
			w.typ(at, e)
		}
	case *types.Union:
		for term := range t.Terms() {
			w.typ(at, term.Type())
		}
	}
}

func (w *walker) named(at string, n *types.Named) {
	for arg := range n.TypeArgs().Types() {
		w.typ(at, arg)
	}
	switch p := n.Obj().Pkg(); {
	case p == nil:
	case strings.HasPrefix(p.Path(), module+"internal/"):
		w.found = append(w.found, fmt.Sprintf("%s names %s.%s", at, p.Path(), n.Obj().Name()))
	case p == w.pkg && !n.Obj().Exported():
		w.declared(at, n)
	}
}
