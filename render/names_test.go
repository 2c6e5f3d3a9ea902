// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func TestNamesAreInvertible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fleet := rapid.StringMatching(`[a-z]([-a-z0-9]{0,38}[a-z0-9])?`).Draw(t, "fleet")
		ordinal := rapid.IntRange(0, 1<<31).Draw(t, "ordinal")

		gotFleet, gotOrdinal, ok := render.ParsePodName(render.PodName(fleet, ordinal))
		require.True(t, ok)
		require.Equal(t, fleet, gotFleet)
		require.Equal(t, ordinal, gotOrdinal)
		gotFleet, gotOrdinal, ok = render.ParseClaimName(render.ClaimName(fleet, ordinal))
		require.True(t, ok)
		require.Equal(t, fleet, gotFleet)
		require.Equal(t, ordinal, gotOrdinal)

		require.Empty(t, validation.IsDNS1035Label(render.PeerServiceName(fleet)), "it names a Service")
		require.Empty(t, validation.IsDNS1035Label(render.RoutingName(fleet)))
		require.Empty(t, validation.IsDNS1123Label(render.PodName(fleet, 99)), "it is the Pod's host name")
	})
}

// TestParsedNamesAreNames takes any text: what is accepted is exactly what the other direction makes.
func TestParsedNamesAreNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`(data-)?[-a-z0-9+]{0,12}-[-+]?0?[0-9]{0,20}`), rapid.String()).Draw(t, "text")
		if fleet, ordinal, ok := render.ParsePodName(text); ok {
			require.Equal(t, text, render.PodName(fleet, ordinal))
		}
		if fleet, ordinal, ok := render.ParseClaimName(text); ok {
			require.Equal(t, text, render.ClaimName(fleet, ordinal))
		}
	})
}

func TestParseNames(t *testing.T) {
	type name struct {
		fleet   string
		ordinal int
	}
	pods := map[string]*name{
		"my-fleet-0": {"my-fleet", 0}, "a-1-2": {"a-1", 2}, "a-99": {"a", 99}, "data-a-3": {"data-a", 3},
		"my-fleet": nil, "my-fleet-": nil, "my-fleet-00": nil, "my-fleet-01": nil, "my-fleet-+1": nil, "my-fleet-1a": nil,
		"-1": nil, "1": nil, "": nil, "-": nil, "a-99999999999999999999": nil, "my-fleet-7d9c5b8f6d-x2x9z": nil, "a-１": nil,
	}
	for text, want := range pods {
		fleet, ordinal, ok := render.ParsePodName(text)
		require.Equal(t, want != nil, ok, text)
		if want != nil {
			require.Equal(t, *want, name{fleet, ordinal}, text)
		}
	}
	claims := map[string]*name{
		"data-my-fleet-0": {"my-fleet", 0}, "data-data-0-1": {"data-0", 1},
		"data-0": nil, "my-fleet-0": nil, "DATA-my-fleet-0": nil, "data-my-fleet": nil, "data--0": nil,
	}
	for text, want := range claims {
		fleet, ordinal, ok := render.ParseClaimName(text)
		require.Equal(t, want != nil, ok, text)
		if want != nil {
			require.Equal(t, *want, name{fleet, ordinal}, text)
		}
	}
}

// TestReservationNames holds names to vectors made with sha256sum. They are in claim templates, which can never change.
func TestReservationNames(t *testing.T) {
	tests := map[string]string{
		"s3://my-bucket":            "s3-a483e74c6d1d86558b8e99bb8b8247e2a169d85f8c8b7c29d789e4b2",
		"my-bucket":                 "s3-a483e74c6d1d86558b8e99bb8b8247e2a169d85f8c8b7c29d789e4b2",
		"gs://my-bucket":            "gs-a483e74c6d1d86558b8e99bb8b8247e2a169d85f8c8b7c29d789e4b2",
		"az://my-container":         "az-f907e278af7c63d535c4c440b720247f8c2dca219ffc8167dd3865b1",
		"s3://my-bucket/team/cells": "s3-p-b9c80cfc46d92e3ae81f8b1a12bbb2913ccc03ee6d3ba4dad257af",
		"gs://my-bucket/team/cells": "gs-p-b9c80cfc46d92e3ae81f8b1a12bbb2913ccc03ee6d3ba4dad257af",
	}
	for bucket, want := range tests {
		store := v1alpha1.ObjectStore{Bucket: bucket}
		got := render.ReservationName(store.BucketURL())
		require.Equal(t, want, got, bucket)
		require.Empty(t, validation.IsValidLabelValue(got))
		require.Empty(t, validation.IsDNS1123Subdomain(got))
	}
	for want, store := range map[string]v1alpha1.ObjectStore{
		"az-f079c00e5b5071a5f6756626f41248e2e5b8bd9beec0d9d09e3cc323": {Bucket: "az://my-container", AzureAccount: "myaccount"},
		"s3-085841f520e3b65f32eb267d9eceb4260d4e05ff47a610397ffb4a79": {Bucket: "my-bucket", Store: "minio-a"},
		"s3-p-400d87746b52bdf365df4833e43752621cf65cfa938c5493ff162d": {Bucket: "my-bucket/team/cells", Store: "minio-a"},
	} {
		require.Equal(t, want, render.ReservationName(store.BucketURL()))
	}
	long := v1alpha1.BucketURL{Scheme: "s3", Name: strings.Repeat("a", 63), Prefix: strings.Repeat("b", 400)}
	require.LessOrEqual(t, len(render.ReservationName(long)), 63)
}
