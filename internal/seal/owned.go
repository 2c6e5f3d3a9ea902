// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// What render owns in a Pod template. Fields that render never sets but that would change where or as what celld runs are
// in the lists too: their absence is owned.
var (
	ownedPodFields = []string{
		"affinity", "automountServiceAccountToken", "dnsPolicy", "hostIPC", "hostNetwork", "hostPID", "nodeName",
		"priorityClassName", "restartPolicy", "schedulerName", "schedulingGates", "securityContext", "serviceAccountName",
		"shareProcessNamespace", "terminationGracePeriodSeconds", "topologySpreadConstraints",
	}
	ownedContainerFields = []string{
		"args", "command", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "name", "ports", "readinessProbe",
		"resources", "securityContext", "startupProbe", "terminationMessagePath", "terminationMessagePolicy", "workingDir",
	}
	ownedEnv = []string{
		v1alpha1.EnvPodIP, v1alpha1.EnvPodName, v1alpha1.EnvAWSRegion, v1alpha1.EnvS3Endpoint, v1alpha1.EnvAWSAllowHTTP,
		v1alpha1.EnvAWSAccessKeyID, v1alpha1.EnvAWSSecretKey, v1alpha1.EnvAzureAccount, v1alpha1.EnvOTELAttributes,
		v1alpha1.EnvOTELSampler, v1alpha1.EnvOTELSamplerArg, v1alpha1.EnvOTELHeaders,
	}
)

const ownedEnvPrefix = "CELLD_"

// owned keeps render's own fields of a normalised object. For everything but a workload that is all of it.
func owned(n *tree.Node) *tree.Node {
	switch n.GetText("kind") {
	case "StatefulSet", "Deployment":
	default:
		return n
	}
	return n.Replace("spec", func(spec *tree.Node) *tree.Node {
		return spec.Replace("template", func(t *tree.Node) *tree.Node {
			t = t.Replace("metadata", ownedTemplateMetadata)
			return t.Replace("spec", ownedPodSpec)
		})
	})
}

func ownedTemplateMetadata(m *tree.Node) *tree.Node {
	ours := func(m *tree.Node) *tree.Node {
		return m.Filter(func(key string, _ *tree.Node) bool {
			return OwnKey(key)
		})
	}
	return dropEmpty(m.Replace("labels", ours).Replace("annotations", ours), "labels", "annotations")
}

// OwnKey says whether a label or annotation is one that only this project sets.
func OwnKey(key string) bool {
	return strings.HasPrefix(key, v1alpha1.KeyPrefix) || key == v1alpha1.LabelAppName || key == v1alpha1.LabelManagedBy
}

func ownedPodSpec(spec *tree.Node) *tree.Node {
	out := keepOnly(spec, ownedPodFields)
	out.Set("containers", named(spec.Get("containers"), v1alpha1.ContainerName).Each(ownedContainer))
	if volumes := named(spec.Get("volumes"), v1alpha1.DataVolume); len(volumes.Items) > 0 {
		out.Set("volumes", volumes)
	}
	return out
}

func ownedContainer(c *tree.Node) *tree.Node {
	out := keepOnly(c, ownedContainerFields)
	out.Set("env", list(c.Get("env")).Each(func(e *tree.Node) *tree.Node {
		name := e.GetText("name")
		if !strings.HasPrefix(name, ownedEnvPrefix) && !slices.Contains(ownedEnv, name) {
			return nil
		}
		return e
	}))
	out.Set("volumeMounts", named(c.Get("volumeMounts"), v1alpha1.DataVolume))
	return out
}

// named keeps the items of a list that have a name; what is no list counts as an empty one.
func named(n *tree.Node, name string) *tree.Node {
	return list(n).Each(func(item *tree.Node) *tree.Node {
		if item.GetText("name") != name {
			return nil
		}
		return item
	})
}

func list(n *tree.Node) *tree.Node {
	if n == nil || n.Kind != tree.List {
		return &tree.Node{Kind: tree.List}
	}
	return n
}

// keepOnly copies the named fields of a map; what is no map counts as an empty one.
func keepOnly(n *tree.Node, keys []string) *tree.Node {
	if n == nil || n.Kind != tree.Map {
		return &tree.Node{Kind: tree.Map}
	}
	return n.Filter(func(key string, _ *tree.Node) bool { return slices.Contains(keys, key) })
}

func without(n *tree.Node, keys ...string) *tree.Node {
	return n.Filter(func(key string, _ *tree.Node) bool { return !slices.Contains(keys, key) })
}

// dropEmpty leaves out the named maps where they have no fields: an empty map and none are the same to the API server.
func dropEmpty(n *tree.Node, keys ...string) *tree.Node {
	return n.Filter(func(key string, value *tree.Node) bool {
		return !slices.Contains(keys, key) || value.Kind == tree.Map && len(value.Fields) > 0
	})
}

// canonicalQuantity spells a quantity as render does; what is no quantity stays as it is.
func canonicalQuantity(n *tree.Node) *tree.Node {
	if n.Kind != tree.String && n.Kind != tree.Number || tree.LongQuantity(n.Text) {
		return n
	}
	q, err := resource.ParseQuantity(n.Text)
	if err != nil {
		return n
	}
	return tree.Str(tree.Canonical(q))
}
