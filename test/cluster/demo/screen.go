// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"strings"
)

// Screen is where a demo is seen. What is said stays; below it, lines that are
// live are drawn anew in place. Where that cannot be, those of them that bring
// news are printed. Everything is one write at a time.
type Screen struct {
	Out     io.Writer
	Size    func() (columns, rows int) // of the terminal; nil: it is none
	Color   bool                       // use colours
	Chapter func(string)               // told of each headline, if anybody cares

	drawn []string        // lines of the terminal that are live
	told  map[string]bool // news that was printed
}

// headline begins a part.
func (s *Screen) headline(t string) {
	if s.Chapter != nil {
		s.Chapter(t)
	}
	s.say(line{}, text(bold, t), line{})
}

// say prints lines that stay, above what is live.
func (s *Screen) say(lines ...line) {
	var out []line
	for _, l := range lines {
		out = append(out, l.fold(s.width())...)
	}
	s.print(out)
}

// verbatim prints lines that can be copied: only the terminal breaks them.
func (s *Screen) verbatim(lines ...string) {
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i] = text(bold, l)
	}
	s.print(out)
}

func (s *Screen) print(lines []line) {
	s.settle()
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&out, l.render(s.Color))
	}
	_, _ = io.WriteString(s.Out, out.String())
}

// live shows lines until others take their place.
func (s *Screen) live(lines ...line) {
	if s.Size == nil {
		s.tell(lines)
		return
	}
	width, height := s.Size()
	if len(lines) >= height { // what has left the screen cannot be drawn anew
		lines = lines[len(lines)-height+1:]
	}
	rendered := make([]string, len(lines))
	same := len(lines) == len(s.drawn)
	for i, l := range lines {
		rendered[i] = l.cut(width).render(s.Color)
		same = same && rendered[i] == s.drawn[i]
	}
	if same {
		return
	}
	var out strings.Builder
	out.WriteString(s.home())
	for _, l := range rendered {
		out.WriteString(l + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	s.drawn = rendered
	_, _ = io.WriteString(s.Out, out.String())
}

// settle leaves what is live as it is.
func (s *Screen) settle() { s.drawn, s.told = nil, nil }

// clear takes what is live away.
func (s *Screen) clear() {
	if len(s.drawn) > 0 {
		_, _ = io.WriteString(s.Out, s.home()+"\x1b[J")
	}
	s.settle()
}

// home goes back to the first line that is live.
func (s *Screen) home() string {
	if len(s.drawn) == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r", len(s.drawn))
}

// tell prints the lines that bring news.
func (s *Screen) tell(lines []line) {
	now := map[string]bool{}
	var out strings.Builder
	for _, l := range lines {
		news := l.news()
		if now[news] = true; news != "" && !s.told[news] {
			fmt.Fprintln(&out, l.render(s.Color))
		}
	}
	s.told = now
	_, _ = io.WriteString(s.Out, out.String())
}

func (s *Screen) width() int {
	if s.Size == nil {
		return 0
	}
	width, _ := s.Size()
	return width
}

// fold breaks a line that is too long; the rest keeps the look of its end.
func (l line) fold(width int) []line {
	if width == 0 || l.width() <= width || len(l) == 0 {
		return []line{l}
	}
	last := l[len(l)-1]
	before := l[:len(l)-1].width()
	indent := len(last.text) - len(strings.TrimLeft(last.text, " "))
	if before+indent >= width/2 {
		return []line{l.cut(width)}
	}
	var out []line
	for i, piece := range wrap(last.text, width-before-indent) {
		head := append(line{}, l[:len(l)-1]...)
		if i > 0 {
			head = line{{strings.Repeat(" ", before), plain}}
		}
		out = append(out, append(head, span{strings.Repeat(" ", indent) + piece, last.style}))
	}
	return out
}
