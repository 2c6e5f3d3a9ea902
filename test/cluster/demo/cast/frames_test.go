// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recording makes one of texts, a second apart. One that begins with a number
// sign is a mark.
func recording(texts ...string) *Recording {
	r := &Recording{Columns: 40, Rows: 6}
	for i, text := range texts {
		title, mark := strings.CutPrefix(text, "#")
		r.Events = append(r.Events, Event{At: time.Duration(i) * time.Second, Mark: mark, Text: title})
	}
	return r
}

// played is what is seen of a recording, for how long.
func played(t *testing.T, r *Recording) []string {
	t.Helper()
	film, err := frames(r)
	require.NoError(t, err)
	out := make([]string, len(film))
	for i, f := range film {
		out[i] = fmt.Sprintf("%s %s", strings.TrimRight(f.screen.text(), "|"), f.hold)
	}
	return out
}

func TestAFrameLastsUntilTheNextWithinBounds(t *testing.T) {
	r := recording("a", "b", "c", "d")
	r.Events[1].At = 100 * time.Millisecond
	r.Events[2].At = 900 * time.Millisecond
	r.Events[3].At = time.Hour
	require.Equal(t, []string{"a 350ms", "ab 800ms", "abc 1.5s", "abcd 4s"}, played(t, r))
}

func TestMoreTextTakesLongerToRead(t *testing.T) {
	r := recording(strings.Repeat("a", 100), "b")
	r.Events[1].At = 0
	film, err := frames(r)
	require.NoError(t, err)
	require.Equal(t, 700*time.Millisecond, film[0].hold)
}

func TestAChapterBeginsOnAnEmptyScreenAndHasTimeToEnd(t *testing.T) {
	require.Equal(t, []string{"one 1s", "one 1 2.7s", "two 4s"}, played(t, recording("#1", "one", " 1", "#2", "two")))
}

func TestWhatChangesNothingIsNoFrame(t *testing.T) {
	require.Equal(t, []string{"a 1.5s", "ab 4s"}, played(t, recording("a", "\ra", "b")))
}

func TestWaitsArePlayedFast(t *testing.T) {
	texts := []string{"waiting"}
	for i := range 150 {
		texts = append(texts, fmt.Sprintf("\rwaiting \x1b[2m%ds\x1b[0m", i+1))
	}
	film := played(t, recording(append(texts, "\rdone\x1b[K")...))
	require.Len(t, film, 1+ticksInRun+1)
	require.Equal(t, []string{"waiting 350ms", "waiting 12s 100ms", "waiting 25s 100ms"}, film[:3])
	require.Equal(t, []string{"waiting 150s 100ms", "done 4s"}, film[ticksInRun:])
}

func TestAnEmptyRecordingHasNoFrames(t *testing.T) {
	require.Empty(t, played(t, recording()))
	_, err := SVG(recording(), "empty")
	require.EqualError(t, err, "nothing was shown")
}
