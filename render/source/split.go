// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxDocument bounds one document. The API server takes no object above 3 MiB.
const maxDocument = 3 << 20

// A document is one YAML document or JSON value of a file, as it stands there.
type document struct {
	text []byte
	line int // of its first byte, from 1
}

var byteOrderMark = []byte("\ufeff")

// checkText finds what makes a whole file unreadable: bytes that are no text, or text in another encoding.
func checkText(raw []byte) (tree.Pos, string) {
	for _, f := range foreignStarts {
		if bytes.HasPrefix(raw, []byte(f.start)) {
			return tree.PosAt(1, 1), f.what
		}
	}
	if i := bytes.IndexByte(raw, 0); i >= 0 {
		return position(raw, i), "a NUL byte: this is not a text file, or one in another encoding than UTF-8"
	}
	if utf8.Valid(raw) {
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

// foreignStarts are the first bytes of files that people take for YAML.
var foreignStarts = []struct{ start, what string }{
	{"\xff\xfe", "this is UTF-16, which Windows PowerShell writes: save the file as UTF-8"},
	{"\xfe\xff", "this is UTF-16: save the file as UTF-8"},
	{"\x1f\x8b\x08", "this is compressed with gzip: unpack it first"},
}

// checkCharacters finds the first character of a document that some YAML readers refuse and others take for white space.
func checkCharacters(d document) (tree.Pos, string) {
	for i, b := range d.text {
		switch {
		case b >= ' ' && b != 0x7f, b == '\n', b == '\t':
		case b == '\r' && i+1 < len(d.text) && d.text[i+1] == '\n', b == '\r' && i+1 == len(d.text):
		case b == '\r':
			return d.position(i), "a carriage return inside a line, which is a line end to some YAML readers: end lines with LF or CRLF"
		default:
			return d.position(i), fmt.Sprintf("control character 0x%02x: remove it (colours of a terminal are often the cause), "+
				"or write it as an escape in double quotes", b)
		}
	}
	return tree.Pos{}, ""
}

// position is the place of a byte of the document in its file.
func (d document) position(offset int) tree.Pos {
	p := position(d.text, offset)
	p.Line += int32(d.line) - 1 //nolint:gosec // files are bounded
	return p
}

func position(raw []byte, offset int) tree.Pos {
	before := raw[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	line := bytes.TrimPrefix(before[start:], byteOrderMark)
	return tree.PosAt(bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(line)+1)
}

// split cuts a file at its separators. YAML takes three dashes at the start of a line for a separator wherever they stand,
// even in a block of text, so nothing but lines has to be looked at.
func split(raw []byte) iter.Seq[document] {
	return func(yield func(document) bool) {
		line, start, startLine := 0, 0, 1
		for at := 0; at < len(raw); {
			line++
			end := len(raw)
			if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			if at > start && isMarker(raw[at:end], "---") {
				if !yield(document{text: raw[start:at], line: startLine}) {
					return
				}
				start, startLine = at, line
			}
			if isMarker(raw[at:end], "...") {
				if !yield(document{text: raw[start:end], line: startLine}) {
					return
				}
				start, startLine = end, line+1
			}
			at = end
		}
		yield(document{text: raw[start:], line: startLine})
	}
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

// body is the text without its separator line, where that line holds nothing else, and without byte order marks.
func (d document) body() []byte {
	text := bytes.TrimPrefix(d.text, byteOrderMark)
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if trimmed := bytes.TrimSpace(first); bytes.Equal(trimmed, []byte("---")) || bytes.HasPrefix(trimmed, []byte("--- #")) {
		return bytes.TrimPrefix(rest, byteOrderMark)
	}
	return text
}

// withoutMarks is the text without byte order marks at its start and after its separator line. What follows the last mark
// keeps its distance from the end.
func (d document) withoutMarks() []byte {
	text := bytes.TrimPrefix(d.text, byteOrderMark)
	first, rest, found := bytes.Cut(text, []byte("\n"))
	if found && bytes.HasPrefix(rest, byteOrderMark) && bytes.HasPrefix(first, []byte("---")) {
		return slices.Concat(first, []byte("\n"), rest[len(byteOrderMark):])
	}
	return text
}
