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
func Of(v any) *Node {
	space := builderStack.Get().(*[]Field) //nolint:forcetypeassert // nothing else is put there
	b := builder{stack: (*space)[:0]}
	defer func() {
		*space = b.stack
		builderStack.Put(space)
	}()
	return b.of(reflect.ValueOf(v))
}

var builderStack = sync.Pool{New: func() any { return new([]Field) }}

// A builder hands out nodes and fields from chunks: an object has hundreds of either, and they live and die together.
type builder struct {
	nodes     []Node
	fields    []Field
	stack     []Field // fields of maps that are not complete yet
	nodeSize  int     // of the last chunk of nodes
	fieldSize int     // of the last chunk of fields
}

// Chunks double from the least, for small objects, to the most, so that little is left over of a large one's last.
const (
	leastChunk = 16
	mostChunk  = 64
)

func nextChunk(last int) int { return min(max(2*last, leastChunk), mostChunk) }

func (b *builder) node(kind Kind, text string) *Node {
	if len(b.nodes) == 0 {
		b.nodeSize = nextChunk(b.nodeSize)
		b.nodes = make([]Node, b.nodeSize)
	}
	n := &b.nodes[0]
	b.nodes = b.nodes[1:]
	n.Kind, n.Text = kind, text
	return n
}

// object makes a map of the fields that were pushed since the stack had the given height.
func (b *builder) object(height int) *Node {
	n := b.node(Map, "")
	size := len(b.stack) - height
	if size > len(b.fields) {
		b.fieldSize = nextChunk(b.fieldSize)
		b.fields = make([]Field, max(size, b.fieldSize))
	}
	n.Fields = b.fields[:size:size]
	b.fields = b.fields[size:]
	copy(n.Fields, b.stack[height:])
	b.stack = b.stack[:height]
	return n
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

func (b *builder) of(v reflect.Value) *Node {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return b.node(Null, "")
		}
		return b.of(v.Elem())
	case reflect.String:
		return b.node(String, v.String())
	case reflect.Bool:
		return b.node(Bool, strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return b.node(Number, strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return b.node(Number, strconv.FormatUint(v.Uint(), 10))
	case reflect.Slice:
		return b.ofSlice(v)
	case reflect.Map:
		return b.ofMap(v)
	case reflect.Struct:
		return b.ofStruct(v)
	default:
		panic(fmt.Sprintf("tree: a %s cannot be part of an object", v.Type()))
	}
}

func (b *builder) ofSlice(v reflect.Value) *Node {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return b.node(String, base64.StdEncoding.EncodeToString(v.Bytes()))
	}
	n := b.node(List, "")
	n.Items = make([]*Node, v.Len())
	for i := range n.Items {
		n.Items[i] = b.of(v.Index(i))
	}
	return n
}

func (b *builder) ofMap(v reflect.Value) *Node {
	height := len(b.stack)
	for iter := v.MapRange(); iter.Next(); {
		b.stack = append(b.stack, Field{Key: iter.Key().String(), Value: b.of(iter.Value())})
	}
	slices.SortFunc(b.stack[height:], func(x, y Field) int { return strings.Compare(x.Key, y.Key) })
	return b.object(height)
}

func (b *builder) ofStruct(v reflect.Value) *Node {
	plan := planOf(v.Type())
	if plan.marshals {
		return b.ofMarshaler(v)
	}
	height := len(b.stack)
	for i := range plan.fields {
		f := &plan.fields[i]
		value := v
		for _, at := range f.index {
			value = value.Field(at)
		}
		if f.omit && empty(value) {
			continue
		}
		n := b.of(value)
		if f.omit && n.Kind == Map && len(n.Fields) == 0 && value.Kind() == reflect.Struct {
			continue
		}
		b.stack = append(b.stack, Field{Key: f.name, Value: n})
	}
	return b.object(height)
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

func (b *builder) ofMarshaler(v reflect.Value) *Node {
	switch x := v.Interface().(type) {
	case resource.Quantity:
		return b.node(String, Canonical(x))
	case intstr.IntOrString:
		if x.Type == intstr.Int {
			return b.node(Number, strconv.Itoa(int(x.IntVal)))
		}
		return b.node(String, x.StrVal)
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

// Bounds of a quantity's text: with a longer exponent and enough digits before it, parsing takes minutes.
const (
	maxQuantity = 100
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
		return p.(*plan) //nolint:forcetypeassert // nothing else is stored
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
