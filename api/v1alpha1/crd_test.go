// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/config/crd"
)

// The API server itself accepts the definitions: they are structural, and no CEL rule can cost too much.
func TestCRDsAreValid(t *testing.T) {
	for kind, check := range checkers(t) {
		t.Run(kind, func(t *testing.T) {
			defaulted := check.CRD.DeepCopy()
			apiextensionsv1.SetDefaults_CustomResourceDefinition(defaulted)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&defaulted.Spec)
			defaulted.Status.StoredVersions = []string{v1alpha1.GroupVersion.Version}
			internal := &apiextensions.CustomResourceDefinition{}
			require.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(
				defaulted, internal, nil))
			require.Empty(t, crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal))
			require.Empty(t, schema.ValidateStructural(nil, check.Schema))
		})
	}
}

// What people and tools see of the definitions besides the schema.
func TestCRDSurface(t *testing.T) {
	fleetColumns := []string{
		"Phase .status.phase", "Ready .status.readyReplicas", "Desired .spec.replicas",
		`Reason .status.conditions[?(@.type=="Ready")].reason`, "Age .metadata.creationTimestamp"}
	for kind, want := range map[string]struct {
		short   []string
		scope   apiextensionsv1.ResourceScope
		columns []string
	}{
		v1alpha1.KindPersistentFleet: {[]string{"pfleet"}, apiextensionsv1.NamespaceScoped, fleetColumns},
		v1alpha1.KindBucketFleet:     {[]string{"bfleet"}, apiextensionsv1.NamespaceScoped, fleetColumns},
		v1alpha1.KindStorageReservation: {nil, apiextensionsv1.ClusterScoped, []string{
			"Bucket .spec.bucket", "Kind .spec.fleet.kind", "Namespace .spec.fleet.namespace", "Fleet .spec.fleet.name",
			"Age .metadata.creationTimestamp"}},
	} {
		t.Run(kind, func(t *testing.T) {
			def := checkers(t)[kind].CRD
			require.Equal(t, v1alpha1.GroupVersion.Group, def.Spec.Group)
			require.Equal(t, want.scope, def.Spec.Scope)
			require.Equal(t, want.short, def.Spec.Names.ShortNames)
			require.Equal(t, []string{"celld"}, def.Spec.Names.Categories)
			require.Equal(t, "disabled", def.Annotations[v1alpha1.AnnotationFluxSubstitute])

			served := def.Spec.Versions[0]
			require.Equal(t, v1alpha1.GroupVersion.Version, served.Name)
			require.True(t, served.Served && served.Storage)
			var columns []string
			for _, c := range served.AdditionalPrinterColumns {
				columns = append(columns, c.Name+" "+c.JSONPath)
			}
			require.Equal(t, want.columns, columns)
			if kind == v1alpha1.KindStorageReservation {
				require.Equal(t, &apiextensionsv1.CustomResourceSubresources{}, served.Subresources)
				return
			}
			selector := ".status.selector"
			require.Equal(t, &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale: &apiextensionsv1.CustomResourceSubresourceScale{
					SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector},
			}, served.Subresources)
		})
	}
}

// A server-side default is a difference that a sync tool sees, so there is none, and Flux finds no variable to replace.
func TestCRDTextHoldsNoDefaultAndNoVariable(t *testing.T) {
	for kind, check := range checkers(t) {
		walk(kind, check.Schema, func(path string, s *schema.Structural) {
			require.Nil(t, s.Default.Object, path)
		})
	}
	files, err := crd.Files.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		text, err := crd.Files.ReadFile(f.Name())
		require.NoError(t, err)
		require.NotContains(t, string(text), "${", f.Name())
		require.NotContains(t, string(text), "\n                default:", f.Name())
	}
}

// The oldest server is 1.31, and a server accepts only new rules that its predecessor understands too.
func TestRulesCompileOnTheOldestServer(t *testing.T) {
	oldest := environment.MustBaseEnvSet(version.MajorMinor(1, 30))
	for kind, check := range checkers(t) {
		compiled := 0
		walk(kind, check.Schema, func(path string, s *schema.Structural) {
			results, err := cel.Compile(s, model.SchemaDeclType(s, path == kind), celconfig.PerCallLimit, oldest,
				cel.NewExpressionsEnvLoader())
			require.NoError(t, err, path)
			for i, r := range results {
				require.Nil(t, r.Error, "%s: %s", path, s.XValidations[i].Rule)
				compiled++
			}
		})
		require.Equal(t, kind != v1alpha1.KindStorageReservation, compiled > 0, kind)
	}
}

// walk visits a schema and everything below it in a fixed order. Paths look like PersistentFleet.spec.env[].name.
func walk(path string, s *schema.Structural, visit func(path string, s *schema.Structural)) {
	visit(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child := s.Properties[name]
		walk(path+"."+name, &child, visit)
	}
	if s.Items != nil {
		walk(path+"[]", s.Items, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		walk(path+"{}", s.AdditionalProperties.Structural, visit)
	}
}

// With many digits and a long exponent a quantity takes minutes to parse, and everybody who reads the fleet would have to: no
// server stores one, with the webhook or without.
func TestQuantitiesAreBounded(t *testing.T) {
	ok := []string{"1", "1.5Gi", "250m", "1e3", "1E3", "1e+6", "2e9", strings.Repeat("9", 20)}
	long := []string{"12345678901234567890e99999999", "1e9999", "1e+100", "1e-100", "1e1.5", strings.Repeat("9", 21)}
	for kind, check := range checkers(t) {
		if kind == v1alpha1.KindStorageReservation {
			continue
		}
		for patch, ok := range map[string][]string{
			"resources: {limits: {cpu: %q}}": ok, "resources: {requests: {cpu: %q}}": ok,
			"storage: {size: %q}": {"1.5Gi", "1e10", "2E9", "2e+9", "10737418240"},
		} {
			for _, text := range ok {
				require.Empty(t, check.Create(object(t, kind, "spec: {"+fmt.Sprintf(patch, text)+"}")), text)
			}
			for _, text := range long {
				require.NotEmpty(t, check.Create(object(t, kind, "spec: {"+fmt.Sprintf(patch, text)+"}")), text)
			}
		}
	}
}
