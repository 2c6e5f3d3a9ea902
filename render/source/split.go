// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// MaxDocument bounds one document. The API server takes no object above 3 MiB.
const MaxDocument = 3 << 20

// A document is one YAML document or JSON value of a file, as it stands there.
type document struct {
	text []byte
	line int // of its first byte, from 1
}

var byteOrderMark = []byte("\ufeff")

// checkText finds what makes a whole file unreadable: bytes that are no text, or bytes that only look like it.
func checkText(raw []byte) (tree.Pos, string) {
	if utf8.Valid(raw) {
		if i := bytes.IndexByte(raw, 0); i >= 0 {
			return position(raw, i), "a NUL byte: this is not a text file"
		}
		return tree.Pos{}, ""
	}
	at := 0
	for at < len(raw) {
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return position(raw, at), fmt.Sprintf("byte 0x%02x is not UTF-8: save the file as UTF-8", raw[at])
}

func position(raw []byte, offset int) tree.Pos {
	before := raw[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return tree.PosAt(bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(before[start:])+1)
}

// split cuts a file at its separators. YAML takes three dashes at the start of a line for a separator wherever they stand,
// even in a block of text, so nothing but lines has to be looked at.
func split(raw []byte) []document {
	var docs []document
	line, start, startLine := 1, 0, 1
	flush := func(end int) {
		docs = append(docs, document{text: raw[start:end], line: startLine})
		start, startLine = end, line
	}
	for at := 0; at < len(raw); line++ {
		end := len(raw)
		if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if at > start && isMarker(raw[at:end], "---") {
			flush(at)
		}
		if isMarker(raw[at:end], "...") {
			line++
			flush(end)
			line--
		}
		at = end
	}
	flush(len(raw))
	return docs
}

// isMarker says whether a line is a separator: the three characters alone, or followed by white space and anything.
func isMarker(text []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(text, byteOrderMark), []byte(marker))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n')
}

// blank says whether a document holds nothing but its separator, white space and comments.
func (d document) blank() bool {
	first := true
	for line := range bytes.Lines(d.text) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		if first && bytes.HasPrefix(line, []byte("---")) {
			line = bytes.TrimSpace(line[3:])
		}
		first = false
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}

// body is the text without its separator line, where that line holds nothing else.
func (d document) body() []byte {
	text := bytes.TrimPrefix(d.text, byteOrderMark)
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if trimmed := bytes.TrimSpace(first); bytes.Equal(trimmed, []byte("---")) || bytes.HasPrefix(trimmed, []byte("--- #")) {
		return rest
	}
	return text
}
