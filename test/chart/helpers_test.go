// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"os"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	chart "github.com/fleetwright/fleetwright/test/chart"
)

const root = "../.."

// An object is a rendered one, as the type of its kind.
type object interface {
	runtime.Object
	metav1.Object
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme, monitoringv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// values reads the values of a test, which are written as YAML.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &out))
	return out
}

// render renders the chart into a namespace.
func render(t *testing.T, namespace, text string) string {
	t.Helper()
	c, err := chart.Load(root)
	require.NoError(t, err)
	out, err := chart.Render(c, namespace, values(t, text))
	require.NoError(t, err)
	return out
}

// objects renders and decodes: unknown and repeated fields, and kinds that nobody knows, are failures.
func objects(t *testing.T, namespace, text string) []object {
	t.Helper()
	return decode(t, render(t, namespace, text))
}

func decode(t *testing.T, text string) []object {
	t.Helper()
	decoder := serializer.NewCodecFactory(newScheme(), serializer.EnableStrict).UniversalDeserializer()
	var out []object
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		if !strings.Contains(document, "kind:") {
			continue
		}
		decoded, _, err := decoder.Decode([]byte(document), nil, nil)
		require.NoError(t, err, document)
		typed, ok := decoded.(object)
		require.True(t, ok)
		out = append(out, typed)
	}
	return out
}

// find returns the object of a type and name, which must be there.
func find[T object](t *testing.T, all []object, name string) T {
	t.Helper()
	found, ok := lookFor[T](all, name)
	require.True(t, ok, "no %T %s", found, name)
	return found
}

func lookFor[T object](all []object, name string) (T, bool) {
	for _, o := range all {
		if typed, ok := o.(T); ok && o.GetName() == name {
			return typed, true
		}
	}
	var none T
	return none, false
}

// name tells an object from others.
func name(o object) string {
	return strings.Trim(o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetNamespace()+"/"+o.GetName(), " ")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(root + "/" + path)
	require.NoError(t, err)
	return text
}
