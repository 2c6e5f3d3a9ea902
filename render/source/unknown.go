// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// unknown reports a field that an object does not have, with the field that was probably meant.
func (d *decoder) unknown(f tree.Field, path string, known []string) {
	if len(d.problems) >= maxProblems {
		return
	}
	message := "unknown field"
	if near := nearest(f.Key, known); near != "" {
		message += fmt.Sprintf(", did you mean %q?", near)
		d.unread = append(d.unread, below(path, near))
	} else if elsewhere := d.elsewhere(f.Key); len(elsewhere) > 0 {
		message += fmt.Sprintf(" here, did you mean %s?", strings.Join(elsewhere, " or "))
		d.unread = append(d.unread, elsewhere...)
	} else if kind := d.kindWith(below(path, f.Key)); kind != "" {
		message += " here: only a " + kind + " has it"
	} else if len(known) <= 12 {
		message += "; known here: " + strings.Join(known, ", ")
	} else {
		message += ": remove it"
	}
	d.problems = append(d.problems, Problem{File: d.file, Pos: Pos(f.Pos), Field: below(path, f.Key), Message: message})
}

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// elsewhere names the fields of this name that a fleet has in other places, nothing when there are none or too many.
func (d *decoder) elsewhere(name string) []string {
	var found []string
	var walk func(t reflect.Type, path string, depth int)
	walk = func(t reflect.Type, path string, depth int) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || depth > maxFieldDepth || reflect.PointerTo(t).Implements(unmarshalerType) {
			return
		}
		fields := fieldsOf(t)
		for _, key := range fields.names {
			at := below(path, key)
			if key == name && !within(at, "status") && !slices.Contains(serverFields, key) {
				found = append(found, at)
			}
			walk(t.FieldByIndex(fields.index[key]).Type, at, depth+1)
		}
	}
	walk(d.root, "", 0)
	if len(found) > 3 {
		return nil
	}
	return found
}

// kindWith names the other kind of fleet if it has a field at a path.
func (d *decoder) kindWith(path string) string {
	for _, kind := range v1alpha1.FleetKinds() {
		t := reflect.TypeOf(v1alpha1.NewFleet(kind)).Elem()
		if t == d.root {
			continue
		}
		for _, key := range splitPath(path) {
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if t.Kind() != reflect.Struct || fieldsOf(t).index[key] == nil {
				return ""
			}
			t = t.FieldByIndex(fieldsOf(t).index[key]).Type
		}
		return kind
	}
	return ""
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

// maxFieldDepth is how deep misplaced fields are looked for: spec.storage.endpoint.url is at 3.
const maxFieldDepth = 4

// foreignNames are fields of a Pod or of a StatefulSet that have another name in a fleet.
var foreignNames = map[string]string{
	"image": "runtimeImage", "serviceAccount": "serviceAccountName", "valueFrom": "secretKeyRef",
	"annotation": "annotations", "label": "labels", "class": "className", "storageClass": "storageClassName",
}

// nearest returns the candidate that a misspelt name most likely means, or "".
func nearest(name string, candidates []string) string {
	if other := foreignNames[name]; slices.Contains(candidates, other) {
		return other
	}
	if len(name) > maxName {
		return ""
	}
	best, bestDistance := "", min(len(name)/3+2, len(name))
	for _, c := range candidates {
		if strings.EqualFold(name, c) {
			return c
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// maxName bounds names that are compared: no field comes near it.
const maxName = 64

// distance is the number of single-byte edits between two names (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
