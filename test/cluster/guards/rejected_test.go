// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

func routed(f *v1alpha1.PersistentFleet) {
	f.Spec.Routing = v1alpha1.Routing{
		Hostnames: []string{"a.test"},
		Source:    &v1alpha1.RoutingSource{Namespace: "ingress", PodLabels: map[string]string{"app": "envoy"}},
		Gateway:   &v1alpha1.GatewayReference{Name: "public", Namespace: "ingress"},
	}
}

// What people do by hand is refused, with the field and what to do instead.
// Nothing of it changes anything.
func TestHandEditsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, routed)
	f.sync()
	tests := map[string]struct {
		args []string
		want []string
	}{
		"set image":       {[]string{"set", "image", "statefulset/my-fleet", "celld=registry.test/other"}, []string{"spec.template.spec.containers[celld].image: differs", "spec.runtimeImage of the fleet in Git"}},
		"scale":           {[]string{"scale", "statefulset/my-fleet", "--replicas=5"}, []string{"spec.replicas: only the healer changes it, here from 1 to 5"}},
		"scale the fleet": {[]string{"scale", "pfleet/my-fleet", "--replicas=50"}, []string{"spec.replicas: is 50, and the zones of PersistentFleet"}},
		"rollout restart": {[]string{"rollout", "restart", "statefulset/my-fleet"}, []string{"spec.maintenance.restartToken"}},
		"set env":         {[]string{"set", "env", "statefulset/my-fleet", "CELLD_TTL_MS=1"}, []string{"spec.template.spec.containers[celld].env[CELLD_TTL_MS].value: differs"}},
		"set resources":   {[]string{"set", "resources", "statefulset/my-fleet", "--limits=memory=9Gi"}, []string{"spec.resources of the fleet in Git"}},
		"label removed":   {[]string{"label", "statefulset/my-fleet", "celld.eric.dev/fleet-uid-"}, []string{"metadata.labels[celld.eric.dev/fleet-uid]: the object is that of PersistentFleet"}},
		"seal removed":    {[]string{"annotate", "statefulset/my-fleet", "celld.eric.dev/seal-"}, []string{"metadata.annotations[celld.eric.dev/seal]: is not the seal of this object"}},
		"owner added":     {patch("statefulset/my-fleet", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1"}]}}`), []string{"metadata.ownerReferences: an owner (ConfigMap a 1)"}},
		"foreign key":     {[]string{"annotate", "statefulset/my-fleet", "celld.eric.dev/protect=true"}, []string{"metadata.annotations[celld.eric.dev/protect]: is a key of this project", "remove it"}},
		"foreign label":   {[]string{"label", "networkpolicy/my-fleet", "celld.eric.dev/mine=a"}, []string{"metadata.labels[celld.eric.dev/mine]: is a key of this project", "remove it"}},
		"patch set":       {patch("statefulset/my-fleet", `{"spec":{"minReadySeconds":5}}`), []string{"spec.minReadySeconds: differs"}},
		"patch budget":    {patch("poddisruptionbudget/my-fleet", `{"spec":{"maxUnavailable":3}}`), []string{"spec.maxUnavailable: differs"}},
		"patch policy":    {patch("networkpolicy/my-fleet", `{"spec":{"ingress":[{}]}}`), []string{"spec.ingress"}},
		"patch Service":   {patch("service/my-fleet", `{"spec":{"externalIPs":["192.0.2.1"]}}`), []string{"spec.externalIPs: differs"}},
		"patch peers":     {patch("service/my-fleet-peers", `{"spec":{"publishNotReadyAddresses":false}}`), []string{"spec.publishNotReadyAddresses: differs"}},
		"patch route":     {patch("httproute/my-fleet-routing", `{"spec":{"hostnames":["b.test"]}}`), []string{"spec.hostnames[0]: differs"}},
		"patch its policy": {patch("networkpolicy/my-fleet-routing", `{"spec":{"podSelector":{"matchLabels":{"a":"b"}}}}`),
			[]string{"spec.podSelector.matchLabels.a: differs"}},
		"delete":          {[]string{"delete", "statefulset/my-fleet", "--wait=false"}, []string{"metadata.name: PersistentFleet", "maintenance.stopped"}},
		"delete --orphan": {[]string{"delete", "statefulset/my-fleet", "--cascade=orphan"}, []string{"propagationPolicy: Orphan leaves members running"}},
		"invalid":         {patch("pfleet/my-fleet", `{"metadata":{"annotations":{"a":"b"}},"spec":{"env":[{"name":"CELLD_NODE","value":"x"}]}}`), []string{"spec.env[0].name"}},
		"immutable":       {patch("pfleet/my-fleet", `{"spec":{"storage":{"bucket":"s3://elsewhere"}}}`), []string{"spec.storage.bucket: cannot be changed"}},
		"dry run":         {[]string{"scale", "statefulset/my-fleet", "--replicas=5", "--dry-run=server"}, []string{"only the healer changes it"}},
	}
	before := f.state()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			said, err := f.kubectl("", tc.args...)
			require.Error(t, err, said)
			for _, want := range tc.want {
				require.Contains(t, said, want)
			}
		})
	}
	require.Equal(t, before, f.state())
}

func patch(object, change string) []string {
	return []string{"patch", object, "--type=merge", "-p", change}
}

// state is what people could have changed of a fleet's objects; controllers
// write their status meanwhile.
func (f *fleet) state() map[string]any {
	f.t.Helper()
	state := map[string]any{}
	for _, object := range f.rendered() {
		u := f.read(object.GetAPIVersion(), object.GetKind(), object.GetName())
		state[object.GetKind()+"/"+object.GetName()] = []any{u.Object["spec"], u.GetLabels(), u.GetAnnotations(), u.GetOwnerReferences()}
	}
	return state
}

func routedByIngress(f *v1alpha1.PersistentFleet) {
	routed(f)
	f.Spec.Routing.Gateway, f.Spec.Routing.Ingress = nil, &v1alpha1.IngressOptions{ClassName: "public"}
}

// An Ingress is guarded as an HTTPRoute is.
func TestIngressIsGuarded(t *testing.T) {
	t.Parallel()
	f := newFleet(t, routedByIngress)
	f.sync()
	for want, change := range map[string]string{
		"spec.ingressClassName: differs":                   `{"spec":{"ingressClassName":"other"}}`,
		"metadata.annotations[celld.eric.dev/mine]: is a ": `{"metadata":{"annotations":{"celld.eric.dev/mine":"a"}}}`,
		"metadata.ownerReferences: an owner":               `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1"}]}}`,
	} {
		said, err := f.kubectl("", patch("ingress/my-fleet-routing", change)...)
		require.Error(t, err)
		require.Contains(t, said, want)
	}
	said, err := f.kubectl("", patch("ingress/my-fleet-routing", `{"metadata":{"annotations":{"nginx.ingress.kubernetes.io/proxy-body-size":"1g"}}}`)...)
	require.NoError(t, err, said)
	f.Shared().Routing.Hostnames = []string{"b.test"}
	f.sync()
}

// kubectl takes its editor from the environment, hence not parallel.
func TestEditIsRefused(t *testing.T) {
	f := newFleet(t)
	f.sync()
	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/maxUnavailable: 1/maxUnavailable: 2/' \"$1\"\n"), 0o700))
	t.Setenv("KUBE_EDITOR", editor)
	said, err := f.kubectl("", "edit", "poddisruptionbudget/my-fleet")
	require.Error(t, err)
	require.Contains(t, said, "spec.maxUnavailable: differs, and is rendered from the fleet")
	for _, kept := range regexp.MustCompile(`-f (\S+?)`+"`").FindAllStringSubmatch(said, -1) {
		require.NoError(t, os.Remove(kept[1])) // kubectl keeps what was edited
	}
}

// A Deployment is guarded as a StatefulSet is.
func TestDeploymentIsGuarded(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	f := newBucketFleet(t, c)
	f.sync()
	for want, args := range map[string][]string{
		"spec.runtimeImage of the fleet":        {"set", "image", "deployment/cache", "celld=registry.test/other"},
		"only the healer changes it":            {"scale", "deployment/cache", "--replicas=4"},
		"spec.maintenance.restartToken":         {"rollout", "restart", "deployment/cache"},
		"spec.maintenance.paused":               {"rollout", "pause", "deployment/cache"},
		"is live, and this runs all of its mem": {"delete", "deployment/cache"},
	} {
		said, err := f.kubectl("", args...)
		require.Error(t, err)
		require.Contains(t, said, want)
	}
}

func newBucketFleet(t *testing.T, c *cluster.Cluster) *fleet {
	t.Helper()
	replicas := int32(3)
	f := &v1alpha1.BucketFleet{ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(t, c), Name: "cache"}}
	f.Spec.Replicas = &replicas
	f.Spec.RuntimeImage = "registry.test/celld" + digest
	f.Spec.ServiceAccountName = "default"
	f.Spec.Placement.Zones = []string{"a", "b", "c"}
	f.Spec.Storage.Bucket, f.Spec.Storage.Region = "s3://"+f.Namespace, "us-east-1"
	return of(t, c, f)
}

// Another manager that takes fields over by server-side apply is no different.
func TestForeignApplyIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	said, err := f.kubectl(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: my-fleet}
spec: {template: {spec: {containers: [{name: celld, image: registry.test/other}]}}}
`, "apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-")
	require.Error(t, err)
	require.Contains(t, said, "spec.template.spec.containers[celld].image: differs")
}

func TestAutoscalerIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	least, mark := int32(2), f.c.Mark(t)
	require.NoError(t, f.c.Client.Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: "hpa"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "my-fleet"},
			MinReplicas:    &least, MaxReplicas: 5,
		},
	}))
	cluster.Wait(t, "the autoscaler to be refused", func(ctx) (bool, string) {
		tried := f.c.Requests(t, mark, func(r cluster.Request) bool {
			return r.Resource == "statefulsets/scale" && r.Namespace == f.GetNamespace() && r.Writes()
		})
		return len(tried) > 0 && tried[0].Code == 403, "its writes: " + join(tried)
	})
	count, _, err := nested(f.read("apps/v1", "StatefulSet", "my-fleet"), "spec", "replicas")
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

func TestReservationsStay(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	r := reservation("s3-kept-"+newNamespace(t, c), "s3://kept", identity)
	require.NoError(t, c.Client.Create(t.Context(), r))
	_, errs, err := c.Kubectl(t, nil, "patch", "storagereservation", r.GetName(), "--type=merge", "-p", `{"spec":{"identity":"9f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"}}`)
	require.Error(t, err)
	require.Contains(t, errs, "a bucket stays with its fleet")
	_, errs, err = c.Kubectl(t, nil, "delete", "storagereservation", r.GetName())
	require.Error(t, err)
	require.Contains(t, errs, "keeps the bucket for its fleet")
	_, errs, err = c.Kubectl(t, nil, "annotate", "storagereservation", r.GetName(), "celld.eric.dev/current-operation=x")
	require.NoError(t, err, errs)
}

func TestProtectedFleetStays(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	_, err := f.kubectl("", "annotate", "pfleet/my-fleet", "celld.eric.dev/protect=true")
	require.NoError(t, err)
	said, err := f.kubectl("", "delete", "pfleet/my-fleet")
	require.Error(t, err)
	require.Contains(t, said, "protects the fleet")
	_, err = f.kubectl("", "annotate", "pfleet/my-fleet", "celld.eric.dev/protect-")
	require.NoError(t, err)
	said, err = f.kubectl("", "delete", "pfleet/my-fleet")
	require.NoError(t, err, said)
}

// Pods without a controller are what an orphaning deletion leaves behind while
// the webhook is away.
func TestOrphansAreNotAdopted(t *testing.T) {
	t.Parallel()
	f := newLive(t)
	f.guarded(false)
	said, err := f.kubectl("", "delete", "statefulset/my-fleet", "--cascade=orphan")
	require.NoError(t, err, said)
	f.guarded(true)
	err = f.apply(f.rendered()[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "Pod my-fleet-1 still runs without a controller")
	require.ErrorContains(t, err, "Pod my-fleet-2 still runs without a controller")

	for _, pod := range []string{"my-fleet-2", "my-fleet-1"} {
		said, err := f.kubectl("", "delete", "pod", pod)
		require.NoError(t, err, said)
	}
	f.sync()
	f.scale(3)
	f.waitReady(3)
}
