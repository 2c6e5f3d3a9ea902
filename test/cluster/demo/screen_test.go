// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster/demo/cast"
)

// terminal is a screen of a size, and what it was sent since the last look.
func terminal(columns, rows int) (*Screen, func() string) {
	var out bytes.Buffer
	sent := func() string {
		defer out.Reset()
		return out.String()
	}
	return &Screen{Out: &out, Size: func() (int, int) { return columns, rows }}, sent
}

func at(now string) []line {
	return []line{text(plain, "one"), {{"two ", plain}, {now, clock}}}
}

func TestLiveLinesAreDrawnInPlace(t *testing.T) {
	s, sent := terminal(80, 24)
	s.live(at("1s")...)
	require.Equal(t, "one\x1b[K\ntwo 1s\x1b[K\n\x1b[J", sent())
	s.live(at("1s")...)
	require.Empty(t, sent(), "nothing changed")
	s.live(at("2s")...)
	require.Equal(t, "\x1b[2A\rone\x1b[K\ntwo 2s\x1b[K\n\x1b[J", sent())
	s.live(text(plain, "one"))
	require.Equal(t, "\x1b[2A\rone\x1b[K\n\x1b[J", sent())
	s.clear()
	require.Equal(t, "\x1b[1A\r\x1b[J", sent())
	s.clear()
	require.Empty(t, sent(), "nothing is live")
}

func TestWhatIsSaidStaysBelowWhatWasLive(t *testing.T) {
	s, sent := terminal(80, 24)
	s.live(text(plain, "live"))
	s.say(text(plain, "said"))
	s.live(text(plain, "live again"))
	require.Equal(t, "live\x1b[K\n\x1b[Jsaid\nlive again\x1b[K\n\x1b[J", sent())
}

func TestALineThatIsTooWideIsCutAndNeverTakesTwoRows(t *testing.T) {
	s, sent := terminal(8, 24)
	s.live(line{{"four", plain}, {"five", plain}}, line{{"four", plain}, {"sixes", plain}}, line{{"nine", red}, {"five+six", plain}})
	require.Equal(t, "fourfive\x1b[K\nfoursix…\x1b[K\nninefiv…\x1b[K\n\x1b[J", sent())
}

func TestATableThatIsTooHighLosesItsTop(t *testing.T) {
	s, sent := terminal(80, 3)
	s.live(text(plain, "1"), text(plain, "2"), text(plain, "3"), text(plain, "4"))
	require.Equal(t, "3\x1b[K\n4\x1b[K\n\x1b[J", sent())
}

func TestWithoutATerminalNewsIsPrinted(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{Out: &out}
	s.live(at("1s")...)
	s.live(at("2s")...)
	s.live(text(plain, "one"), line{}, text(plain, "three"))
	s.live(text(plain, "one"), text(plain, "two"))
	s.settle()
	s.live(text(plain, "one"))
	s.clear()
	require.Equal(t, "one\ntwo 1s\nthree\ntwo\none\n", out.String())
}

func TestColoursAreLeftOutWhenNobodyWantsThem(t *testing.T) {
	for color, want := range map[bool]string{true: "\x1b[31mred\x1b[0m plain\n", false: "red plain\n"} {
		var out bytes.Buffer
		(&Screen{Out: &out, Color: color}).say(line{{"red", red}, {" plain", plain}})
		require.Equal(t, want, out.String())
	}
}

func TestLinesThatStayAreFolded(t *testing.T) {
	s, sent := terminal(14, 24)
	s.say(line{{"$ ", cyan}, {"echo one two three", bold}}, text(plain, "a-word-that-is-too-long"), text(plain, "  indented text here"))
	require.Equal(t, "$ echo one two\n  three\na-word-that-is\n-too-long\n  indented\n  text here\n", sent())
}

func TestLinesToCopyAreNotFolded(t *testing.T) {
	s, sent := terminal(8, 24)
	s.verbatim("export KUBECONFIG=/tmp/kubeconfig")
	require.Equal(t, "export KUBECONFIG=/tmp/kubeconfig\n", sent())
}

func TestARecordingOfTheScreenCanBeDrawn(t *testing.T) {
	var file bytes.Buffer
	now := noon
	recorder, err := cast.NewRecorder(&file, 100, 30, func() time.Time { now = now.Add(time.Second); return now })
	require.NoError(t, err)
	s := &Screen{Out: recorder, Color: true, Size: func() (int, int) { return 100, 30 }, Chapter: recorder.Mark}
	s.headline("A part")
	s.say(shorten("1\n2\n3\n4\n5\n6\n7\n8\n9\n", red)...)
	s.live(degraded().table(100, noon)...)
	s.live(degraded().table(100, noon.Add(time.Minute))...)
	s.clear()
	recording, err := cast.Read(&file)
	require.NoError(t, err)
	svg, err := cast.SVG(recording, "demo")
	require.NoError(t, err)
	require.Contains(t, string(svg), ">my-fleet-2<")
}
