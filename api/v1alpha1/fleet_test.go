// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

func TestBucketURL(t *testing.T) {
	for bucket, want := range map[string]struct {
		url       v1alpha1.BucketURL
		canonical string
	}{
		"my-bucket":         {v1alpha1.BucketURL{Scheme: "s3", Name: "my-bucket"}, "s3://my-bucket"},
		"my-bucket/a/b":     {v1alpha1.BucketURL{Scheme: "s3", Name: "my-bucket", Prefix: "a/b"}, "s3://my-bucket/a/b"},
		"gs://my-bucket":    {v1alpha1.BucketURL{Scheme: "gs", Name: "my-bucket"}, "gs://my-bucket"},
		"az://container/p":  {v1alpha1.BucketURL{Scheme: "az", Name: "container", Prefix: "p"}, "az://container/p"},
		"":                  {v1alpha1.BucketURL{Scheme: "s3"}, "s3://"},
		"ftp://a//b://c/d/": {v1alpha1.BucketURL{Scheme: "ftp", Name: "a", Prefix: "/b://c/d/"}, "ftp://a//b://c/d/"},
	} {
		t.Run(bucket, func(t *testing.T) {
			got := (&v1alpha1.ObjectStore{Bucket: bucket}).BucketURL()
			require.Equal(t, want.url, got)
			require.Equal(t, want.canonical, got.String())
		})
	}
}

func TestURLPort(t *testing.T) {
	for url, want := range map[string]int32{
		"http://otel": 80, "https://otel": 443, "http://otel:4318/path": 4318, "https://[fd00::1]:9000": 9000, "http://[::1]/x": 80, "%": 0,
	} {
		require.Equal(t, want, v1alpha1.URLPort(url), url)
	}
}

func TestAccessors(t *testing.T) {
	for _, kind := range kinds {
		f := typed(t, kind, `spec: {storage: {size: 7Gi}}`)
		require.Equal(t, "s3://my-bucket", f.Store().Bucket)
		require.Equal(t, "7Gi", f.DiskSize().String())
		f.State().Phase = v1alpha1.PhaseReady
		f.Shared().Maintenance.Paused = true
		require.Equal(t, v1alpha1.PhaseReady, f.State().Phase)
		require.True(t, f.Shared().Maintenance.Paused)
		require.False(t, f.Shared().Routing.Enabled() || f.Shared().Telemetry.Enabled())
	}
}

// The scheme knows every kind and its list, under the group and version that users write.
func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	for kind := range checkers(t) {
		for _, suffix := range []string{"", "List"} {
			obj, err := scheme.New(v1alpha1.GroupVersion.WithKind(kind + suffix))
			require.NoError(t, err)
			require.IsType(t, obj, obj.DeepCopyObject())
		}
	}
}

func TestNewFleet(t *testing.T) {
	for _, kind := range v1alpha1.FleetKinds() {
		require.Equal(t, kind, v1alpha1.NewFleet(kind).Kind())
	}
	require.Nil(t, v1alpha1.NewFleet(v1alpha1.KindStorageReservation))
}
