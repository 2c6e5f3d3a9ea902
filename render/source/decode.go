// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// decode fills a typed object from a tree and returns everything that does not fit, each with its place and path: unknown
// fields, values of another type, and plain scalars that YAML readers disagree on. What fits is filled in all the same.
func decode(file string, n *tree.Node, into any) Problems {
	d := decoder{file: file}
	d.value(n, reflect.ValueOf(into).Elem(), "")
	return d.problems
}

type decoder struct {
	file     string
	problems Problems
}

func (d *decoder) fail(n *tree.Node, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Pos: n.Pos, Field: path, Message: fmt.Sprintf(format, args...)})
}

// value decodes a node; null leaves the value unset, as the API server does.
func (d *decoder) value(n *tree.Node, v reflect.Value, path string) {
	if n.Kind == tree.Null {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
		return
	}
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		d.unmarshaler(n, u, path)
		return
	}
	switch v.Kind() {
	case reflect.String:
		if d.isString(n, path) {
			v.SetString(n.Text)
		}
	case reflect.Bool:
		d.boolean(n, v, path)
	case reflect.Int, reflect.Int32, reflect.Int64:
		d.integer(n, v, path)
	case reflect.Struct:
		d.object(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	default:
		d.fail(n, path, "is not supported in a file: remove it")
	}
}

// isString accepts strings that every YAML reader takes for one.
func (d *decoder) isString(n *tree.Node, path string) bool {
	switch {
	case n.Kind == tree.String && (!n.Plain || !tree.Ambiguous(n.Text)):
		return true
	case n.Kind == tree.String:
		d.fail(n, path, "%s without quotes is not a string to every YAML reader: write %q", n.Text, n.Text)
	case n.Kind == tree.Map || n.Kind == tree.List:
		d.fail(n, path, "is %s, must be a string", n.Kind)
	default:
		d.fail(n, path, "%s is %s, must be a string: write %q", n.Text, n.Kind, n.Text)
	}
	return false
}

func (d *decoder) boolean(n *tree.Node, v reflect.Value, path string) {
	switch {
	case n.Kind == tree.Bool:
		v.SetBool(n.Text == "true")
	case n.Kind == tree.String && n.Plain && tree.Ambiguous(n.Text):
		d.fail(n, path, "%s is a boolean to some YAML readers only: write true or false", n.Text)
	default:
		d.fail(n, path, "is %s, must be true or false", n.Kind)
	}
}

var integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (d *decoder) integer(n *tree.Node, v reflect.Value, path string) {
	switch {
	case n.Kind == tree.String && !n.Plain && integerText.MatchString(n.Text):
		d.fail(n, path, "%q is a string, must be a whole number: remove the quotes", n.Text)
		return
	case n.Kind != tree.Number:
		d.fail(n, path, "is %s, must be a whole number", n.Kind)
		return
	case !integerText.MatchString(n.Text):
		d.fail(n, path, "%s is not a plain whole number, and YAML readers disagree on it: write it in decimal digits", n.Text)
		return
	}
	x, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v.OverflowInt(x) {
		d.fail(n, path, "%s is out of range: at most %d bits", n.Text, v.Type().Bits())
		return
	}
	v.SetInt(x)
}

func (d *decoder) unmarshaler(n *tree.Node, u json.Unmarshaler, path string) {
	switch x := u.(type) {
	case *resource.Quantity:
		d.quantity(n, x, path)
		return
	case *intstr.IntOrString:
		if n.Kind == tree.Number {
			d.integer(n, reflect.ValueOf(x).Elem().FieldByName("IntVal"), path)
		} else if d.isString(n, path) {
			*x = intstr.FromString(n.Text)
		}
		return
	}
	if err := u.UnmarshalJSON(tree.AppendJSON(nil, n)); err != nil {
		d.fail(n, path, "does not fit: %v", err)
	}
}

// plainNumber is a number that every YAML reader takes for the same one.
var plainNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (d *decoder) quantity(n *tree.Node, q *resource.Quantity, path string) {
	text := n.Text
	if n.Kind != tree.String && n.Kind != tree.Number {
		d.fail(n, path, "is %s, must be a quantity, such as 500m or 10Gi", n.Kind)
		return
	}
	if n.Kind == tree.Number && !plainNumber.MatchString(text) {
		d.fail(n, path, "%s is not a plain number, and YAML readers disagree on it: write it in decimal digits", text)
		return
	}
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		d.fail(n, path, "%q is not a quantity: write a number with one of m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or none, such as 500m or 10Gi", text)
		return
	}
	*q = parsed
}

func (d *decoder) list(n *tree.Node, v reflect.Value, path string) {
	if n.Kind != tree.List {
		d.fail(n, path, "is %s, must be a list", n.Kind)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		at := path + "[" + strconv.Itoa(i) + "]"
		if item.Kind == tree.Null {
			d.fail(item, at, "is null: remove the item or give it a value")
			continue
		}
		d.value(item, out.Index(i), at)
	}
	v.Set(out)
}

func (d *decoder) mapping(n *tree.Node, v reflect.Value, path string) {
	if n.Kind != tree.Map {
		d.fail(n, path, "is %s, must be an object", n.Kind)
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Fields))
	for _, f := range n.Fields {
		at := path + "[" + f.Key + "]"
		if f.Value.Kind == tree.Null {
			d.fail(f.Value, at, "is null: remove the key or give it a value, \"\" for an empty one")
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(f.Value, value, at)
		out.SetMapIndex(reflect.ValueOf(f.Key).Convert(v.Type().Key()), value)
	}
	v.Set(out)
}

func (d *decoder) object(n *tree.Node, v reflect.Value, path string) {
	if n.Kind != tree.Map {
		d.fail(n, path, "is %s, must be an object", n.Kind)
		return
	}
	fields := fieldsOf(v.Type())
	for _, f := range n.Fields {
		at := f.Key
		if path != "" {
			at = path + "." + f.Key
		}
		index, known := fields.index[f.Key]
		if !known {
			d.unknown(f, at, fields.names)
			continue
		}
		d.value(f.Value, v.FieldByIndex(index), at)
	}
}

func (d *decoder) unknown(f tree.Field, path string, names []string) {
	message := "unknown field"
	if near := nearest(f.Key, names); near != "" {
		message += fmt.Sprintf(", did you mean %q?", near)
	} else if len(names) <= 12 {
		message += "; known here: " + strings.Join(names, ", ")
	} else {
		message += ": remove it, or move it to where it belongs"
	}
	d.problems = append(d.problems, Problem{File: d.file, Pos: f.Pos, Field: path, Message: message})
}
