// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// serverDefaults lists, by type, the fields that the API server (or the CRDs of the Gateway API) fills in when they are
// empty, for every type that rendered objects hold. test/cluster compares with a real API server.
var serverDefaults = map[reflect.Type][]string{
	reflect.TypeFor[appsv1.StatefulSetSpec]():                                 {"PodManagementPolicy", "RevisionHistoryLimit", "PersistentVolumeClaimRetentionPolicy"},
	reflect.TypeFor[appsv1.StatefulSetUpdateStrategy]():                       {"Type", "RollingUpdate"},
	reflect.TypeFor[appsv1.RollingUpdateStatefulSetStrategy]():                {"Partition"},
	reflect.TypeFor[appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy](): {"WhenDeleted", "WhenScaled"},
	reflect.TypeFor[appsv1.DeploymentSpec]():                                  {"RevisionHistoryLimit", "ProgressDeadlineSeconds"},
	reflect.TypeFor[appsv1.DeploymentStrategy]():                              {"Type", "RollingUpdate"},
	reflect.TypeFor[appsv1.RollingUpdateDeployment]():                         {"MaxUnavailable", "MaxSurge"},
	reflect.TypeFor[corev1.PodSpec](): {
		"DNSPolicy", "RestartPolicy", "SecurityContext", "TerminationGracePeriodSeconds", "SchedulerName",
	},
	reflect.TypeFor[corev1.Container]():                 {"ImagePullPolicy", "TerminationMessagePath", "TerminationMessagePolicy"},
	reflect.TypeFor[corev1.ContainerPort]():             {"Protocol"},
	reflect.TypeFor[corev1.ObjectFieldSelector]():       {"APIVersion"},
	reflect.TypeFor[corev1.Probe]():                     {"TimeoutSeconds", "PeriodSeconds", "SuccessThreshold", "FailureThreshold"},
	reflect.TypeFor[corev1.HTTPGetAction]():             {"Path", "Scheme"},
	reflect.TypeFor[corev1.TopologySpreadConstraint]():  {"NodeAffinityPolicy", "NodeTaintsPolicy"},
	reflect.TypeFor[corev1.PersistentVolumeClaim]():     {"APIVersion", "Kind"},
	reflect.TypeFor[corev1.PersistentVolumeClaimSpec](): {"VolumeMode"},
	reflect.TypeFor[corev1.ServiceSpec]():               {"Type", "SessionAffinity", "IPFamilyPolicy", "InternalTrafficPolicy"},
	reflect.TypeFor[corev1.ServicePort]():               {"Protocol", "TargetPort"},
	reflect.TypeFor[networkingv1.NetworkPolicySpec]():   {"PolicyTypes"},
	reflect.TypeFor[networkingv1.NetworkPolicyPort]():   {"Protocol"},
	reflect.TypeFor[networkingv1.HTTPIngressPath]():     {"PathType"},
	reflect.TypeFor[gatewayv1.ParentReference]():        {"Group", "Kind"},
	reflect.TypeFor[gatewayv1.HTTPRouteRule]():          {"Matches"},
	reflect.TypeFor[gatewayv1.HTTPPathMatch]():          {"Type", "Value"},
	reflect.TypeFor[gatewayv1.BackendRef]():             {"Group", "Kind", "Weight"},
}

func TestDefaultsAreWrittenOut(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, name := range goldenCases(t) {
		for _, o := range mustRender(t, goldenFleet(t, name))[1:] {
			eachStruct(reflect.ValueOf(o.Typed), func(v reflect.Value) {
				seen[v.Type()] = true
				for _, field := range serverDefaults[v.Type()] {
					if s, ok := v.Interface().(appsv1.StatefulSetUpdateStrategy); ok && s.Type == appsv1.OnDeleteStatefulSetStrategyType {
						require.Nil(t, s.RollingUpdate, "the API server refuses it beside OnDelete")
						continue
					}
					require.False(t, v.FieldByName(field).IsZero(), "%s, %s: %s.%s is left to the API server", name, idOf(o), v.Type(), field)
				}
			})
		}
	}
	for typ := range serverDefaults {
		require.True(t, seen[typ], "no case renders a %s", typ)
	}
}

// TestQuantitiesAreRounded spells out what the API server does to quantities before it stores them: it rounds them up to
// thousandths. Anything else in Git would be a difference for ever.
func TestQuantitiesAreRounded(t *testing.T) {
	patch := `spec: {storage: {size: 1.5e9}, resources: {requests: {cpu: 100u, memory: 1e9}, limits: {memory: 1.5e9}}}`
	text := string(mustRender(t, fleet(t, persistent, patch))[1].YAML)
	require.Contains(t, text, "limits:\n            memory: 1500M\n          requests:\n            cpu: 1m\n            memory: 1G\n")
	require.Contains(t, text, "storage: 1500M\n")
	text = string(mustRender(t, fleet(t, bucket, patch))[1].YAML)
	require.Contains(t, text, "ephemeral-storage: 1500M\n")
}

// eachStruct visits every struct below a value.
func eachStruct(v reflect.Value, visit func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachStruct(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachStruct(v.Index(i), visit)
		}
	case reflect.Struct:
		visit(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachStruct(v.Field(i), visit)
			}
		}
	default:
	}
}
