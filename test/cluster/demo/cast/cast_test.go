// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	var file bytes.Buffer
	now := time.Unix(1700000000, 0)
	r, err := NewRecorder(&file, 80, 24, func() time.Time { return now })
	require.NoError(t, err)
	now = now.Add(1500 * time.Millisecond)
	r.Mark("Part")
	n, err := r.Write([]byte("a\nb\x1b[K"))
	require.NoError(t, err)
	require.Equal(t, 6, n)
	require.Equal(t, `{"version":2,"width":80,"height":24,"timestamp":1700000000}
[1.5,"m","Part"]
[1.5,"o","a\r\nb\u001b[K"]
`, file.String())

	recording, err := Read(&file)
	require.NoError(t, err)
	require.Equal(t, &Recording{Columns: 80, Rows: 24, Events: []Event{
		{At: 1500 * time.Millisecond, Mark: true, Text: "Part"},
		{At: 1500 * time.Millisecond, Text: "a\r\nb\x1b[K"},
	}}, recording)
}

func TestReadSaysWhatIsWrongAndWhere(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"empty":           {"", "an empty recording"},
		"no JSON":         {"cast", "line 1: invalid"},
		"another version": {`{"version":3,"width":80,"height":24}`, "line 1: not version 2"},
		"no size":         {`{"version":2}`, "without a size"},
		"a broken event":  {"{\"version\":2,\"width\":8,\"height\":2}\n[1,\"o\",\"a\"]\n[1,2", "line 3: "},
		"a short event":   {"{\"version\":2,\"width\":8,\"height\":2}\n[1,\"o\"]", "line 2: an event has three parts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.file))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestEventsOfOtherKindsAreNotShown(t *testing.T) {
	r, err := Read(strings.NewReader("{\"version\":2,\"width\":8,\"height\":2}\n[1,\"i\",\"typed\"]\n[2,\"o\",\"a\"]"))
	require.NoError(t, err)
	require.Len(t, r.Events, 1)
}
