// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// decode fills a typed object from a tree and returns everything that does not fit, each with its place and path: unknown
// fields, values of another type, and plain scalars that YAML readers disagree on. What fits is filled in all the same.
//
// It also returns the paths of fields that have no value because of that, so that nobody calls them missing: of what did
// not fit, of values that could not be read in the first place, and of fields that a misspelt one was meant for.
func decode(file string, n *tree.Node, into any, flaws []flaw) (problems Problems, unread []string) {
	d := decoder{file: file, root: reflect.TypeOf(into).Elem(), lost: map[*tree.Node]bool{}}
	for _, f := range flaws {
		if f.node != nil {
			d.lost[f.node] = true
		}
	}
	d.value(n, reflect.ValueOf(into).Elem(), "")
	return d.problems, d.unread
}

type decoder struct {
	file     string
	root     reflect.Type
	lost     map[*tree.Node]bool // what could not be read, and is reported already
	problems Problems
	unread   []string
}

func (d *decoder) fail(n *tree.Node, path, format string, args ...any) {
	d.unread = append(d.unread, path)
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{File: d.file, Pos: Pos(n.Pos), Field: path, Message: fmt.Sprintf(format, args...)})
	}
}

// isLost says whether a node stands for a value that could not be read.
func (d *decoder) isLost(n *tree.Node, path string) bool {
	if !d.lost[n] {
		return false
	}
	d.unread = append(d.unread, path)
	return true
}

// value decodes a node; null leaves the value unset, as the API server does.
func (d *decoder) value(n *tree.Node, v reflect.Value, path string) {
	if n.Kind == tree.Null {
		d.isLost(n, path)
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
	case n.Kind == tree.String && (n.Text == "true" || n.Text == "false"):
		d.fail(n, path, "%q is a string, must be a boolean: remove the quotes", n.Text)
	default:
		d.fail(n, path, "%s, must be true or false", described(n))
	}
}

// described says what a node is, with its text where that is short.
func described(n *tree.Node) string {
	switch n.Kind {
	case tree.Null, tree.Map, tree.List:
		return "is " + n.Kind.String()
	case tree.String:
		return strconv.Quote(n.Text) + " is a string"
	default:
		return n.Text + " is " + n.Kind.String()
	}
}

var integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (d *decoder) integer(n *tree.Node, v reflect.Value, path string) {
	switch {
	case n.Kind == tree.String && !n.Plain && integerText.MatchString(n.Text):
		d.fail(n, path, "%q is a string, must be a whole number: remove the quotes", n.Text)
		return
	case n.Kind != tree.Number:
		d.fail(n, path, "%s, must be a whole number", described(n))
		return
	case !integerText.MatchString(n.Text):
		d.fail(n, path, "%s is not a plain whole number, and YAML readers disagree on it: write it in decimal digits", n.Text)
		return
	}
	x, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v.OverflowInt(x) {
		d.fail(n, path, "%s is out of range: it must fit into %d bits", n.Text, v.Type().Bits())
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
		d.fail(n, path, "%s, must be a quantity, such as 500m or 10Gi", described(n))
		return
	}
	if n.Kind == tree.Number && !plainNumber.MatchString(text) {
		d.fail(n, path, "%s is not a plain number, and YAML readers disagree on it: write it in decimal digits", text)
		return
	}
	if tree.LongQuantity(text) {
		d.fail(n, path, "%.40s is out of range: no quantity is that large, or that exact", text)
		return
	}
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		d.fail(n, path, "%q is not a quantity: write a number with one of m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or none, such as 500m or 10Gi", text)
		return
	}
	// Beyond the largest suffix, a quantity's own text can mean another value.
	again, err := resource.ParseQuantity(parsed.String())
	if err != nil || again.Cmp(parsed) != 0 {
		d.fail(n, path, "%s is out of range: no quantity is that large", text)
		return
	}
	if n.Kind == tree.Number && !d.wholeNumber(n, parsed, path) {
		return
	}
	*q = parsed
}

// maxExact is the largest whole number up to which floating point is exact.
const maxExact = 1 << 53

// wholeNumber accepts a number that the API server takes as one: it knows quantities as whole numbers of 64 bits and as text.
func (d *decoder) wholeNumber(n *tree.Node, q resource.Quantity, path string) bool {
	whole := q.Value() // rounded up, and the largest of 64 bits for what is larger
	exact := q.Cmp(*resource.NewQuantity(whole, q.Format)) == 0
	switch {
	case exact && (integerText.MatchString(n.Text) || -maxExact <= whole && whole <= maxExact):
		return true
	case !exact && whole < math.MaxInt64:
		d.fail(n, path, "%s is a fraction, which the API server accepts only as text: write %s", n.Text,
			resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI))
	case exact:
		d.fail(n, path, "%s has more digits than YAML readers keep in this spelling: write it with a unit, such as 10Gi", n.Text)
	default:
		d.fail(n, path, "%s is out of range for a number without quotes: write it with a unit, such as 10Gi", n.Text)
	}
	return false
}

func (d *decoder) list(n *tree.Node, v reflect.Value, path string) {
	if n.Kind != tree.List {
		d.fail(n, path, "%s, must be a list", described(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		at := path + "[" + strconv.Itoa(i) + "]"
		if item.Kind == tree.Null {
			if !d.isLost(item, at) {
				d.fail(item, at, "is null: remove the item or give it a value")
			}
			continue
		}
		d.value(item, out.Index(i), at)
	}
	v.Set(out)
}

func (d *decoder) mapping(n *tree.Node, v reflect.Value, path string) {
	if n.Kind != tree.Map {
		d.fail(n, path, "%s, must be an object", described(n))
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Fields))
	for _, f := range n.Fields {
		at := path + "[" + f.Key + "]"
		if f.Value.Kind == tree.Null {
			if !d.isLost(f.Value, at) {
				d.fail(f.Value, at, "is null: remove the key or give it a value")
			}
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
		d.fail(n, path, "%s, must be an object", described(n))
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
			d.unknown(f, path, fields.names)
			continue
		}
		d.value(f.Value, v.FieldByIndex(index), at)
	}
}
