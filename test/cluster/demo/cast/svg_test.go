// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata anew")

func TestSVG(t *testing.T) {
	in, err := os.Open("testdata/small.cast")
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	r, err := Read(in)
	require.NoError(t, err)
	got, err := SVG(r, "a small <demo>")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("testdata/small.svg", got, 0o644))
	}
	want, err := os.ReadFile("testdata/small.svg")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run with -update, and look at the picture")
	requireXML(t, got)
}

func TestTheSameRowIsDrawnOnce(t *testing.T) {
	svg, err := SVG(recording("same\r\n", "other\r\n", "same\r\n"), "")
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(svg, []byte(">same</text>")))
	require.Equal(t, 4, bytes.Count(svg, []byte(`<use href="#r0"`)))
}

func TestColumnsStayInLineWhateverTheFont(t *testing.T) {
	require.Equal(t, `<text x="20.0" y="14" textLength="25.8">one</text>`+
		`<text x="63.0" y="14" textLength="43.0">two &lt;</text>`+
		`<text class="r" x="106.0" y="14" textLength="8.6">!</text>`, draw(row(t, "one  two <\x1b[31m!\x1b[0m  ")))
}

func TestWhoWantsNoMotionSeesTheFullestEndOfAChapter(t *testing.T) {
	film, err := frames(recording("#1", "one", " 1", "#2", "two, which", "\r\x1b[K2", "#3", "three"))
	require.NoError(t, err)
	require.Equal(t, "three|||||", film[poster(film)].screen.text())
	require.Equal(t, "one 1|||||", film[poster(film[:len(film)-1])].screen.text())
}

func TestAnEmptyRowIsNothing(t *testing.T) {
	require.Empty(t, draw(row(t, "  \x1b[31m  \x1b[0m")))
}

func row(t *testing.T, text string) []cell {
	t.Helper()
	terminal := newTerminal(20, 1)
	require.NoError(t, terminal.write(text))
	return terminal.screen[0]
}

func requireXML(t *testing.T, document []byte) {
	t.Helper()
	reader := xml.NewDecoder(bytes.NewReader(document))
	for {
		if _, err := reader.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
