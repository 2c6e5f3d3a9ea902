// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestOf(t *testing.T) {
	paused := true
	tests := map[string]struct {
		value any
		want  string
	}{
		"apiVersion before kind, unset fields left out": {
			&corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
		},
		"fields in the order of the struct, keys of maps sorted": {
			corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "z", Labels: map[string]string{"b": "1", "a": "2"}},
				Spec: corev1.PodSpec{DNSPolicy: corev1.DNSDefault, NodeName: "n"}},
			"metadata:\n  name: z\n  labels:\n    a: \"2\"\n    b: \"1\"\nspec:\n  containers: []\n  dnsPolicy: Default\n  nodeName: \"n\"\n",
		},
		"pointers to zero values stay": {
			corev1.PodSpec{AutomountServiceAccountToken: new(bool), TerminationGracePeriodSeconds: new(int64), ShareProcessNamespace: &paused},
			"containers: []\nterminationGracePeriodSeconds: 0\nautomountServiceAccountToken: false\nshareProcessNamespace: true\n",
		},
		"pointers to empty objects stay": {
			networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{}}},
			"podSelector: {}\n",
		},
		"embedded structs are in place": {
			corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			"name: data\nemptyDir: {}\n",
		},
		"structs that hold nothing, whether their lists are nil or empty": {
			corev1.Container{Name: "a", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{}}, Env: []corev1.EnvVar{}},
			"name: a\n",
		},
		"lists without omitempty are never null": {v1alpha1.Placement{}, "zones: []\n"},
		"numbers and names of ports": {
			[]networkingv1.NetworkPolicyPort{{Port: &intstr.IntOrString{IntVal: 53}}, {Port: &intstr.IntOrString{Type: intstr.String, StrVal: "dns"}}},
			"- port: 53\n- port: dns\n",
		},
		"quantities": {
			corev1.ResourceList{"a": resource.MustParse("1.500"), "b": resource.MustParse("1024Mi"), "c": resource.MustParse("1000m"),
				"d": resource.MustParse("0.5Gi"), "e": resource.MustParse("+2"), "f": resource.MustParse("1e3"), "g": resource.MustParse("0Gi"),
				"h": resource.MustParse("1e-9"), "i": resource.MustParse("1e21"), "j": resource.MustParse("12e20")},
			"a: 1500m\nb: 1Gi\nc: \"1\"\nd: 512Mi\ne: \"2\"\nf: 1k\ng: \"0\"\nh: 1n\ni: \"1e21\"\nj: 1200E\n",
		},
		"bytes": {map[string][]byte{"key": []byte("\x00value")}, "key: AHZhbHVl\n"},
		"times": {metav1.ObjectMeta{CreationTimestamp: metav1.Unix(0, 0)}, "creationTimestamp: \"1970-01-01T00:00:00Z\"\n"},
		"nil":   {(*corev1.Pod)(nil), "null\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, string(tree.AppendYAML(nil, tree.Of(tc.value))))
		})
	}
	require.Panics(t, func() { tree.Of(struct{ C chan int }{C: make(chan int)}) })
	require.Panics(t, func() { tree.Of(struct{ F float64 }{F: 1.5}) }, "no Kubernetes object holds fractions")
}

// TestOfCanBeChanged adds to one map of a tree: the maps beside it, which share its memory, stay as they are.
func TestOfCanBeChanged(t *testing.T) {
	n := tree.Of(corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"}},
		Spec:       corev1.PodSpec{NodeName: "z"},
	})
	n.Get("metadata", "labels").Set("new", tree.Str("3"))
	n.Get("metadata", "annotations").Set("new", tree.Str("4"))
	n.Get("metadata").Set("new", tree.Str("5"))
	require.Equal(t, `{"metadata":{"annotations":{"b":"2","new":"4"},"labels":{"a":"1","new":"3"},"new":"5"},"spec":{"containers":[],"nodeName":"z"}}`,
		canonical(n))
}

// TestOfIsJSON compares trees of objects with random fields with what encoding/json makes of them, less what is left out.
func TestOfIsJSON(t *testing.T) {
	kinds := map[string]func() any{
		"Deployment":      func() any { return &appsv1.Deployment{} },
		"StatefulSet":     func() any { return &appsv1.StatefulSet{} },
		"Service":         func() any { return &corev1.Service{} },
		"NetworkPolicy":   func() any { return &networkingv1.NetworkPolicy{} },
		"Ingress":         func() any { return &networkingv1.Ingress{} },
		"Budget":          func() any { return &policyv1.PodDisruptionBudget{} },
		"PersistentFleet": func() any { return &v1alpha1.PersistentFleet{} },
		"BucketFleet":     func() any { return &v1alpha1.BucketFleet{} },
	}
	for name, empty := range kinds {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				object := empty()
				filler(rapid.Int64().Draw(t, "seed")).Fill(object)
				asJSON, err := json.Marshal(object)
				require.NoError(t, err)
				want, err := tree.FromJSON(asJSON)
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(lines(prune(want)), lines(prune(tree.Of(object)))))

				back := empty()
				require.NoError(t, json.Unmarshal(tree.AppendJSON(nil, tree.Of(object)), back))
				require.Empty(t, cmp.Diff(lines(prune(tree.Of(object))), lines(prune(tree.Of(back)))))
			})
		})
	}
}

// lines is a tree with sorted keys, for a difference that people can read.
func lines(n *tree.Node) []string {
	sorted, _ := tree.FromJSON(tree.AppendJSON(nil, n))
	return strings.Split(string(tree.AppendYAML(nil, sorted)), "\n")
}

func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.6).NumElements(0, 2).MaxDepth(14).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1<<40), resource.DecimalSI)
		},
		func(v *metav1.Time, c randfill.Continue) { *v = metav1.Unix(c.Int63n(1<<32), 0) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(`{"f:metadata":{}}`) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(c.Int31()); c.Bool() {
				*v = intstr.FromString(c.String(0))
			}
		},
	)
}

// prune takes away what Of leaves out and encoding/json does not: nulls, and objects and lists that hold nothing.
func prune(n *tree.Node) *tree.Node {
	keep := func(n *tree.Node) *tree.Node {
		n = prune(n)
		if n.Kind == tree.Null || n.Kind == tree.Map && len(n.Fields) == 0 || n.Kind == tree.List && len(n.Items) == 0 {
			return nil
		}
		return n
	}
	out := *n
	out.Fields = nil
	for _, f := range n.Fields {
		if value := keep(f.Value); value != nil {
			out.Fields = append(out.Fields, tree.Field{Key: f.Key, Value: value})
		}
	}
	return out.Each(func(item *tree.Node) *tree.Node { return prune(item) })
}
