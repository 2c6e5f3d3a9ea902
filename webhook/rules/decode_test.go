// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":`

// What is cut out of a review and put back is what the library reads.
func TestEnvelope(t *testing.T) {
	tests := map[string]string{
		"both":              `{"uid":"1","operation":"UPDATE","object":{"a":["}\"{"]},"oldObject":{"a":1},"dryRun":true}}`,
		"the other way":     `{"uid":"1","oldObject":{"a":1},"name":"n","object":{"b":{}}}}`,
		"created":           `{"uid":"1","object":{"a":1},"oldObject":null}}`,
		"deleted":           `{"uid":"1","object":null,"oldObject":{"a":1},"options":{"object":{"no":1}}}}`,
		"spaces":            "\n{ \"object\" : { \"a\" : 1 } , \"oldObject\" :\t{ } }\n}",
		"twice":             `{"object":{"a":1},"object":{"a":2}}}`,
		"elsewhere":         `{"name":"object","userInfo":{"extra":{"object":["{"]}},"object":{"a":1}}}`,
		"none":              `{"uid":"1"}}`,
		"two requests":      `{"object":{"a":1}},"request":{"uid":"2","object":{"a":2}}}`,
		"escaped backslash": `{"name":"a\\","object":{"a":"b\\\\","c":"\\\""}}}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := decodeEnvelope([]byte(head + text))
			require.NoError(t, err)
			got, err := DecodeReview([]byte(head + text))
			require.NoError(t, err)
			require.Equal(t, string(want.Object.Raw), trimmed(got.Object.Raw))
			require.Equal(t, string(want.OldObject.Raw), trimmed(got.OldObject.Raw))
			want.Object.Raw, want.OldObject.Raw, got.Object.Raw, got.OldObject.Raw = nil, nil, nil, nil
			require.Equal(t, want, got)
		})
	}
}

// FuzzEnvelope never reads anything but what the library reads, where that reads anything.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(head + `{"uid":"1","object":{"a":["}\"{"]},"oldObject":{"a":1}}}`))
	f.Add([]byte(head + `{"object":{},"object":[]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		want, err := decodeEnvelope(body)
		got, gotErr := DecodeReview(body)
		if err != nil || gotErr != nil {
			return // the objects that were cut out are read, and refused, later
		}
		require.Equal(t, string(want.Object.Raw), trimmed(got.Object.Raw))
		require.Equal(t, string(want.OldObject.Raw), trimmed(got.OldObject.Raw))
	})
}

// trimmed is without white space around.
func trimmed(raw []byte) string { return string(bytes.TrimSpace(raw)) }
