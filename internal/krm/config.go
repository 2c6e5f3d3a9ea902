// SPDX-License-Identifier: Apache-2.0

package krm

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

// options reads the functionConfig: a ConfigMap with options, or the fleets to generate from, which is the fleet itself.
func (l *resourceList) options() (render.Options, []*yaml.Node, error) {
	var opts render.Options
	if l.config == nil || l.config.Kind != yaml.MappingNode {
		return opts, nil, nil
	}
	apiVersion, kind := text(l.config, "apiVersion"), text(l.config, "kind")
	if strings.HasPrefix(apiVersion, v1alpha1.GroupVersion.Group+"/") {
		return opts, []*yaml.Node{withoutTransport(l.config)}, nil
	}
	if kind != "ConfigMap" || apiVersion != "v1" {
		return opts, nil, configProblem(fmt.Sprintf("is a %s of %s, must be a PersistentFleet or BucketFleet to generate from, "+
			"or a ConfigMap with namespace and healerNamespace in its data", kind, apiVersion))
	}
	data := get(l.config, "data")
	if data == nil {
		return opts, nil, nil
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(data.Content); i += 2 {
		key, value := data.Content[i].Value, data.Content[i+1].Value
		if seen[key] {
			return opts, nil, configProblem(fmt.Sprintf("data.%s is given twice: keep one of them", key))
		}
		seen[key] = true
		switch key {
		case "namespace":
			opts.Namespace = value
		case "healerNamespace":
			opts.HealerNamespace = value
		default:
			return opts, nil, configProblem(fmt.Sprintf("data.%s is unknown; known here: healerNamespace, namespace", key))
		}
	}
	return opts, nil, nil
}

func configProblem(message string) error {
	return source.Problems{{File: source.StdinName, Field: "functionConfig", Message: message}}
}

// dropConfig removes the configuration from the items: kustomize hands a generator its own configuration there.
func (l *resourceList) dropConfig() {
	var kept []*yaml.Node
	for _, item := range l.items.Content {
		if idOf(item) != idOf(l.config) {
			kept = append(kept, item)
		}
	}
	l.items.Content = kept
}

// transportPrefixes start the annotations with which tools move objects around. On an output they would make kustomize
// drop the object, or run the function again.
var transportPrefixes = []string{"config.kubernetes.io/", "internal.config.kubernetes.io/", "config.k8s.io/"}

func isTransport(key string) bool {
	for _, prefix := range transportPrefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// withoutTransport returns a copy of an object without such annotations.
func withoutTransport(object *yaml.Node) *yaml.Node {
	out := clone(object)
	metadata := get(out, "metadata")
	annotations := get(metadata, "annotations")
	if annotations == nil {
		return out
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(annotations.Content); i += 2 {
		if !isTransport(annotations.Content[i].Value) {
			kept = append(kept, annotations.Content[i], annotations.Content[i+1])
		}
	}
	annotations.Content = kept
	if len(kept) == 0 {
		remove(metadata, "annotations")
	}
	return out
}

// origin names where an item came from, for people.
func origin(item *yaml.Node) string {
	annotations := get(get(item, "metadata"), "annotations")
	for _, key := range []string{"internal.config.kubernetes.io/path", "config.kubernetes.io/path"} {
		if path := text(annotations, key); path != "" {
			return path
		}
	}
	return source.StdinName
}
