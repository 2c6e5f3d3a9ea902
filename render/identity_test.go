// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render"
)

// TestIdentity holds identities to vectors that another implementation of version 5 UUIDs made, in the space
// df07c8c4-c984-52c0-89f4-8320872ed8f0, from namespace, name and bucket with NUL between them. They never change: a fleet
// would not know its disks again.
func TestIdentity(t *testing.T) {
	tests := map[string]struct{ base, patch, want string }{
		"smallest":          {persistent, `{}`, "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"},
		"bare bucket name":  {persistent, `spec: {storage: {bucket: my-bucket}}`, "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"},
		"the other kind":    {bucket, `{}`, "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"},
		"other settings":    {persistent, `spec: {replicas: 9, storage: {region: eu-west-1}}`, "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"},
		"prefix":            {persistent, `spec: {storage: {bucket: my-bucket/team/cells}}`, "2acbc41c-ad85-5e02-8b09-6c07cbc3eaf8"},
		"another namespace": {persistent, `metadata: {namespace: other}`, "f98d5bed-ec5f-509d-8842-bd28096bbc04"},
		"another name":      {persistent, `metadata: {name: other}`, "6b06b829-170a-55e5-bdd0-77b48832358c"},
		"google":            {persistent, `spec: {storage: {bucket: gs://my-bucket}}`, "c688555b-9425-52a6-be12-4733fe1b7d74"},
		"azure":             {persistent, `spec: {storage: {bucket: az://my-container}}`, "dca35646-54dc-5c4a-9d26-02073d2970b1"},
		"azure account":     {persistent, `spec: {storage: {bucket: az://my-container, azureAccount: myaccount}}`, "61b1e759-b07a-5dd4-8792-99c8a2608062"},
		"named store":       {persistent, `spec: {storage: {store: minio-a}}`, "bc310e7c-9087-50e6-84bf-5bf23dc64e64"},
		"set":               {persistent, `spec: {identity: 8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11}`, "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := render.Identity(fleet(t, tc.base, tc.patch))
			require.Equal(t, tc.want, got)
			require.NoError(t, uuid.Validate(got))
		})
	}
}

// TestIdentityKeepsPartsApart moves characters from one part of the key to the next.
func TestIdentityKeepsPartsApart(t *testing.T) {
	a := fleet(t, persistent, `metadata: {namespace: a, name: bc}`)
	b := fleet(t, persistent, `metadata: {namespace: ab, name: c}`)
	require.NotEqual(t, render.Identity(a), render.Identity(b))
}
