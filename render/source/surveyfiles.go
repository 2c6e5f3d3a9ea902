// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// content surveys a file that a field of a kustomization names or holds. Fleets, and patches of fleets, are read as strictly
// as they are without kustomize: it would turn what readers disagree on into what it makes of it.
func (k *surveyed) content(field string) {
	switch field {
	case "resources", "bases", "patches", "patchesStrategicMerge", "generators", "transformers", "validators":
	default:
		return
	}
	if pos, problem := checkText(k.text); problem != "" {
		k.fail(pos, "", "%s", problem)
		return
	}
	for d := range split(k.text) {
		if d.blank() {
			continue
		}
		nodes, flaws := parse(k.file, d)
		if len(nodes) != 1 || nodes[0].Kind != tree.Map {
			k.flaws(flaws, true)
		}
		for _, n := range nodes {
			k.count(n)
			if items, isList := itemsOf(n); field == "resources" || field == "bases" {
				k.work.objects++
				if isList {
					k.work.objects += float64(len(items))
				}
			} else {
				k.work.operations++
			}
			k.object(n, flaws, strings.HasPrefix(field, "patches"))
			flaws = nil
		}
	}
}

func (k *surveyed) flaws(flaws []flaw, lenient bool) {
	for _, f := range flaws {
		if !f.repeated && (!f.lenient || !lenient) {
			k.report(f.Problem)
		}
	}
}

// object surveys an object, a patch of one, or the configuration of a built-in plugin.
func (k *surveyed) object(n *tree.Node, flaws []flaw, patch bool) {
	group, _, _ := strings.Cut(n.GetText("apiVersion"), "/")
	fleet := v1alpha1.NewFleet(n.GetText("kind"))
	if group != v1alpha1.GroupVersion.Group || fleet == nil {
		k.flaws(flaws, true)
		if group == "builtin" {
			k.plugin(n)
		}
		return
	}
	k.flaws(flaws, false)
	if !patch && k.outer == nil {
		k.holdFleets[followed(k.file)] = k.file
	}
	n = withoutServerFields(n, func(string, tree.Pos) {})
	if found := invisibleKeys(k.file, n, ""); len(found) > 0 {
		k.report(found...)
		return
	}
	n, found := unrewritten(k.file, n, nil)
	k.report(found...)
	if patch {
		n = withoutDirectives(n)
	}
	problems, _ := decode(k.file, n, fleet, flaws)
	k.report(problems...)
}

// withoutDirectives returns a patch without what is no part of the object: directives, and nulls, which remove a field.
func withoutDirectives(n *tree.Node) *tree.Node {
	if len(n.Fields)+len(n.Items) == 0 {
		return n
	}
	out := *n
	out.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f tree.Field) bool {
		return strings.HasPrefix(f.Key, "$") || f.Value.Kind == tree.Null
	})
	for i := range out.Fields {
		out.Fields[i].Value = withoutDirectives(out.Fields[i].Value)
	}
	return out.Each(withoutDirectives)
}
