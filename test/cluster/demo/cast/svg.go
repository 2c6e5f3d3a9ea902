// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes of the picture, in its units.
const (
	charWidth, lineHeight = 8.6, 18
	margin, bar           = 20, 38
)

// colors are those of each look. The window has a ground of its own, so it can
// stand on any page.
var colors = []struct{ look, class, css string }{
	{"1", "b", "font-weight:600;fill:#f4f7fb"},
	{"2", "d", "fill:#8592a6"},
	{"3", "i", "font-style:italic;fill:#a3b0c2"},
	{"31", "r", "fill:#ff9a91"},
	{"32", "g", "fill:#8fdc9f"},
	{"33", "y", "fill:#f0ca78"},
	{"36", "c", "fill:#82cdf2"},
}

// SVG draws a recording as a picture that plays by itself, over and over. Its
// frames stand side by side, and the one that is seen changes by a rule of
// CSS, so it needs no script. Who wants no motion sees one of them.
func SVG(r *Recording, title string) ([]byte, error) {
	film, err := frames(r)
	if err != nil {
		return nil, err
	}
	if len(film) == 0 {
		return nil, errors.New("nothing was shown")
	}
	p := &picture{rows: map[string]int{}, width: int(float64(r.Columns)*charWidth) + 2*margin, height: r.Rows*lineHeight + bar + margin}
	var scenes bytes.Buffer
	for i, f := range film {
		p.scene(&scenes, i, f.screen)
	}
	var out bytes.Buffer
	p.head(&out, title)
	p.style(&out, film)
	fmt.Fprintf(&out, "<defs>\n%s</defs>\n", p.defs.Bytes())
	fmt.Fprintf(&out, "<rect class=\"w\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", p.width-1, p.height-1)
	for i, color := range []string{"#ff6159", "#ffbd2e", "#28c941"} {
		fmt.Fprintf(&out, "<circle cx=\"%d\" cy=\"19\" r=\"6\" fill=\"%s\"/>\n", 22+20*i, color)
	}
	fmt.Fprintf(&out, "<text class=\"d\" x=\"%d\" y=\"23\" text-anchor=\"middle\">%s</text>\n", p.width/2, escape(title))
	fmt.Fprintf(&out, "<svg x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"><g class=\"f\">\n%s</g></svg>\n",
		bar, p.width, r.Rows*lineHeight+4, scenes.Bytes())
	fmt.Fprintf(&out, "<rect class=\"p\" x=\"10\" y=\"%d\" width=\"%d\" height=\"2\" rx=\"1\"/>\n</svg>\n", p.height-8, p.width-20)
	return out.Bytes(), nil
}

// picture is one that is drawn. A row that is seen in several frames is drawn once.
type picture struct {
	width, height int
	rows          map[string]int // by what they are drawn as
	defs          bytes.Buffer
}

func (p *picture) head(out io.Writer, title string) {
	fmt.Fprintf(out, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"+
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n<title>%s</title>\n",
		p.width, p.height, p.width, escape(title))
}

func (p *picture) style(out io.Writer, film []frame) {
	var total, at time.Duration
	for _, f := range film {
		total += f.hold
	}
	fmt.Fprint(out, "<style>\n"+
		"text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d3dbe6;white-space:pre}\n"+
		".w{fill:#10161f;stroke:#3a4657}.p{fill:#3f7fb8}\n")
	for _, c := range colors {
		fmt.Fprintf(out, ".%s{%s}\n", c.class, c.css)
	}
	seconds := total.Seconds()
	fmt.Fprintf(out, ".f{transform:translateX(%dpx);animation:f %.2fs steps(1,end) infinite}\n", -p.width*poster(film), seconds)
	fmt.Fprintf(out, ".p{transform-origin:10px 0;animation:p %.2fs linear infinite}\n@keyframes p{from{transform:scaleX(0)}}\n@keyframes f{\n", seconds)
	for i, f := range film {
		fmt.Fprintf(out, "%.3f%%{transform:translateX(%dpx)}\n", 100*at.Seconds()/seconds, -p.width*i)
		at += f.hold
	}
	fmt.Fprint(out, "}\n@media(prefers-reduced-motion:reduce){.f,.p{animation:none}}\n</style>\n")
}

// poster is the fullest of the frames that end a chapter.
func poster(film []frame) int {
	best, most := 0, 0
	for i, f := range film {
		if n := f.screen.filled(); f.hold > longest && n > most {
			best, most = i, n
		}
	}
	return best
}

// scene draws a frame at its place.
func (p *picture) scene(out io.Writer, place int, s screen) {
	fmt.Fprintf(out, "<g transform=\"translate(%d)\">", p.width*place)
	for y, row := range s {
		if drawn := draw(row); drawn != "" {
			fmt.Fprintf(out, "<use href=\"#r%d\" y=\"%d\"/>", p.row(drawn), y*lineHeight)
		}
	}
	fmt.Fprint(out, "</g>\n")
}

func (p *picture) row(drawn string) int {
	if n, ok := p.rows[drawn]; ok {
		return n
	}
	n := len(p.rows)
	p.rows[drawn] = n
	fmt.Fprintf(&p.defs, "<g id=\"r%d\">%s</g>\n", n, drawn)
	return n
}

// draw makes texts of a row, each as wide as on the terminal, whatever the font.
func draw(row []cell) string {
	var out strings.Builder
	for start := 0; start < len(row); {
		end := start + 1
		for end < len(row) && row[end].look == row[start].look && !(row[end].char == ' ' && row[end-1].char == ' ') {
			end++
		}
		chars := make([]rune, 0, end-start)
		for _, c := range row[start:end] {
			chars = append(chars, c.char)
		}
		content := strings.TrimRight(string(chars), " ")
		if trimmed := strings.TrimLeft(content, " "); trimmed != "" {
			x := margin + charWidth*float64(start+len(content)-len(trimmed))
			fmt.Fprintf(&out, "<text%s x=\"%.1f\" y=\"14\" textLength=\"%.1f\">%s</text>",
				class(row[start].look), x, charWidth*float64(utf8.RuneCountInString(trimmed)), escape(trimmed))
		}
		start = end
	}
	return out.String()
}

func class(look string) string {
	i := slices.IndexFunc(colors, func(c struct{ look, class, css string }) bool { return c.look == look })
	if i < 0 {
		return ""
	}
	return " class=\"" + colors[i].class + "\""
}

// filled counts the characters on a screen.
func (s screen) filled() int {
	n := 0
	for _, row := range s {
		for _, c := range row {
			if c.char != ' ' {
				n++
			}
		}
	}
	return n
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes everything
	return out.String()
}
