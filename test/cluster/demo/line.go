// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"strings"
	"unicode/utf8"
)

// style is how a piece of text looks: the parameter of an SGR sequence.
type style string

const (
	plain  style = ""
	bold   style = "1"
	clock  style = "2" // faint: it changes with time alone, so a change of it is no news
	aside  style = "3"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// span is text of one style, line a line of them.
type span struct {
	text string
	style
}

type line []span

// text makes a line of one style.
func text(s style, t string) line { return line{{t, s}} }

// width is how many columns a line takes.
func (l line) width() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// news is what of a line is worth telling when it changes.
func (l line) news() string {
	var out strings.Builder
	for _, s := range l {
		if s.style != clock {
			out.WriteString(s.text)
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// cut shortens a line to a width; zero is any.
func (l line) cut(width int) line {
	if width == 0 || l.width() <= width {
		return l
	}
	var out line
	left := width - 1
	for _, s := range l {
		runes := []rune(s.text)
		if len(runes) >= left {
			return append(out, span{string(runes[:left]) + "…", s.style})
		}
		left -= len(runes)
		out = append(out, s)
	}
	return out
}

// render writes a line with or without its colours.
func (l line) render(color bool) string {
	var out strings.Builder
	for _, s := range l {
		if color && s.style != plain {
			out.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
		} else {
			out.WriteString(s.text)
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// wrap breaks text at blanks into pieces of at most a width, or at any character
// where a word is longer. Zero is any width.
func wrap(t string, width int) []string {
	if width <= 0 {
		return []string{t}
	}
	var out []string
	current := ""
	for word := range strings.FieldsSeq(t) {
		for current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width {
			out, current = append(out, current), ""
		}
		for utf8.RuneCountInString(word) > width {
			runes := []rune(word)
			out, word = append(out, string(runes[:width])), string(runes[width:])
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(out, current)
}
