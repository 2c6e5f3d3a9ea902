// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Of returns the tree of a typed object: fields in the order of the struct, apiVersion before kind, map keys sorted, unset
// fields left out. Unlike encoding/json it leaves out structs tagged omitempty that hold nothing, gives a nil list or map
// that is not tagged so as an empty one, and spells quantities in canonical form, however they were written. Types with a
// MarshalJSON of their own are taken at its word. It panics on what objects cannot hold, such as a channel or a fraction:
// that is a mistake in a type, never in a value.
func Of(v any) *Node { return new(Arena).Of(v) }

// Of is the function Of in the memory of the arena.
func (a *Arena) Of(v any) *Node { return a.of(reflect.ValueOf(v)) }

func (a *Arena) node(kind Kind, text string) *Node {
	n := &a.nodes.take(1)[0]
	n.Kind, n.Text = kind, text
	return n
}

// object makes a map of the fields that were pushed since the stack had the given height.
func (a *Arena) object(height int) *Node {
	n := a.node(Map, "")
	n.Fields = a.fields.take(len(a.stack) - height)
	copy(n.Fields, a.stack[height:])
	a.stack = a.stack[:height]
	return n
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

func (a *Arena) of(v reflect.Value) *Node {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return a.node(Null, "")
		}
		return a.of(v.Elem())
	case reflect.String:
		return a.node(String, v.String())
	case reflect.Bool:
		return a.node(Bool, strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.node(Number, strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return a.node(Number, strconv.FormatUint(v.Uint(), 10))
	case reflect.Slice:
		return a.ofSlice(v)
	case reflect.Map:
		return a.ofMap(v)
	case reflect.Struct:
		return a.ofStruct(v)
	default:
		panic(fmt.Sprintf("tree: a %s cannot be part of an object", v.Type()))
	}
}

func (a *Arena) ofSlice(v reflect.Value) *Node {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return a.node(String, base64.StdEncoding.EncodeToString(v.Bytes()))
	}
	n := a.node(List, "")
	n.Items = a.items.take(v.Len())
	for i := range n.Items {
		n.Items[i] = a.of(v.Index(i))
	}
	return n
}

func (a *Arena) ofMap(v reflect.Value) *Node {
	height := len(a.stack)
	if texts, ok := v.Interface().(map[string]string); ok { // labels: reflection would copy each
		for key, value := range texts {
			a.stack = append(a.stack, Field{Key: key, Value: a.node(String, value)})
		}
	} else {
		for iter := v.MapRange(); iter.Next(); {
			a.stack = append(a.stack, Field{Key: iter.Key().String(), Value: a.of(iter.Value())})
		}
	}
	slices.SortFunc(a.stack[height:], func(x, y Field) int { return strings.Compare(x.Key, y.Key) })
	return a.object(height)
}

func (a *Arena) ofStruct(v reflect.Value) *Node {
	plan := planOf(v.Type())
	if plan.marshals {
		return a.ofMarshaler(v)
	}
	height := len(a.stack)
	for i := range plan.fields {
		f := &plan.fields[i]
		value := v
		for _, at := range f.index {
			value = value.Field(at)
		}
		if f.omit && empty(value) {
			continue
		}
		n := a.of(value)
		if f.omit && n.Kind == Map && len(n.Fields) == 0 && value.Kind() == reflect.Struct {
			continue
		}
		a.stack = append(a.stack, Field{Key: f.name, Value: n})
	}
	return a.object(height)
}

// empty is what omitempty and omitzero leave out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

func (a *Arena) ofMarshaler(v reflect.Value) *Node {
	switch x := v.Interface().(type) {
	case resource.Quantity:
		return a.node(String, Canonical(x))
	case intstr.IntOrString:
		if x.Type == intstr.Int {
			return a.node(Number, strconv.Itoa(int(x.IntVal)))
		}
		return a.node(String, x.StrVal)
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic(fmt.Sprintf("tree: %s: %v", v.Type(), err))
	}
	n, err := FromJSON(raw)
	if err != nil {
		panic(fmt.Sprintf("tree: %s: %v", v.Type(), err))
	}
	return n
}

// Canonical spells a quantity in the one way that its value and base have. Its own String repeats some spellings as they
// were read, such as 1.500 for 1500m. Exponents become suffixes: tools that read YAML and send JSON write 1e3 as 1000.
func Canonical(q resource.Quantity) string {
	var space [32]byte
	if q.Format == resource.DecimalExponent {
		if _, exponent := q.AsCanonicalBytes(space[:0]); exponent >= -9 && exponent <= 18 {
			q.Format = resource.DecimalSI
		}
	}
	number, suffix := q.CanonicalizeBytes(space[:0])
	return string(number) + string(suffix)
}

// Bounds of a quantity's text: with more than 18 digits and a long exponent after them, parsing takes minutes. The definitions
// have the same bounds.
const (
	maxQuantity = 20
	maxExponent = 3
)

// LongQuantity says that a text is too long to be parsed as a quantity; none that means anything is.
func LongQuantity(text string) bool {
	e := strings.IndexAny(text, "eE")
	return len(text) > maxQuantity || e >= 0 && len(text)-e-1 > maxExponent
}

// A plan lists the JSON fields of a struct, embedded ones in place.
type plan struct {
	marshals bool
	fields   []planField
}

type planField struct {
	name  string
	index []int
	omit  bool
}

var plans sync.Map // of reflect.Type to *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{marshals: t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType)}
	if !p.marshals {
		p.fields = planFields(t, nil)
	}
	if len(p.fields) > 1 && p.fields[0].name == "kind" && p.fields[1].name == "apiVersion" {
		p.fields[0], p.fields[1] = p.fields[1], p.fields[0]
	}
	plans.Store(t, p)
	return p
}

func planFields(t reflect.Type, index []int) []planField {
	var out []planField
	for i := range t.NumField() {
		sf := t.Field(i)
		name, inline, omit, ok := JSONField(sf)
		if !ok {
			continue
		}
		at := append(slices.Clip(slices.Clone(index)), i)
		if inline {
			out = append(out, planFields(sf.Type, at)...)
			continue
		}
		out = append(out, planField{name: name, index: at, omit: omit})
	}
	return out
}

// JSONField reads a struct field as encoding/json does: its key, whether its own fields stand in its place, whether it is
// left out when empty, and whether it is part of the JSON at all.
func JSONField(f reflect.StructField) (name string, inline, omit, ok bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" {
		return "", false, false, false
	}
	inline = f.Anonymous && name == ""
	if name == "" {
		name = f.Name
	}
	return name, inline, strings.Contains(options, "omit"), true
}
