// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/tree"
)

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxProblem says where a document stops being YAML, and in which way.
//
// The library names a line, but often that of the object or list around the mistake. Where the mistake is a character
// that cannot follow what stands before it, the shortest beginning of the document with the same error ends there.
func syntaxProblem(d document, err error) (tree.Pos, string) {
	if at := conflictMarker.FindIndex(d.text); at != nil {
		return d.position(at[0]), "a merge conflict: choose one side and remove the marks"
	}
	if at := hiddenSeparator.FindIndex(d.text); at != nil && errors.Is(err, errHiddenSeparator) {
		return d.position(at[0]), strings.TrimPrefix(err.Error(), "yaml: ")
	}
	message := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	for _, s := range syntaxErrors {
		if !strings.Contains(message, s.text) {
			continue
		}
		at, found := 0, false
		switch {
		case s.exact:
			at, found = stopsAt(d, message)
		case s.bracket:
			at, found = opensAt(d)
		}
		if found {
			return d.explain(at, s.advice)
		}
		line += s.lag
		return tree.PosAt(d.line+line-1, d.column(line)), s.advice
	}
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		return d.alias(name), fmt.Sprintf("there is no anchor &%s above this alias in the same document: write the value out", name)
	}
	return tree.PosAt(d.line+line-1, 1), message
}

var (
	conflictMarker  = regexp.MustCompile(`(?m)^<{7} `)
	hiddenSeparator = regexp.MustCompile(`[\x{85}\x{2028}\x{2029}]---`)
)

// syntaxErrors are the errors of the YAML library, in the words of somebody who wants to mend them.
var syntaxErrors = []struct {
	text string
	// exact says that the mistake is where the text stops making sense, and not the end of it.
	exact bool
	// bracket says that the mistake is a bracket with no end, which may be far above the place where the text stops.
	bracket bool
	// lag is how far the library's line is behind, where it counts from 0.
	lag    int
	advice string
}{
	{text: "cannot start any token", exact: true, advice: "a value cannot start with this character: put the value in quotes"},
	{text: "mapping values are not allowed", exact: true, advice: "a colon cannot stand here: indent the line like its neighbours, or put the value in quotes"},
	{text: "block sequence entries are not allowed", exact: true, advice: "a list item cannot stand here: start the list on a line of its own"},
	{text: "mapping keys are not allowed", exact: true, advice: "a key cannot stand here: check the indentation"},
	{text: "could not find expected ':'", advice: "a key without a colon: write key: value, and indent text that goes on from the line above"},
	{text: "did not find expected key", exact: true, lag: 1, advice: "no key can stand here: check the indentation, and the quotes and brackets above"},
	{text: "did not find expected '-' indicator", exact: true, lag: 1, advice: "only a list item can stand here: check the indentation, and the quotes and brackets above"},
	{text: "did not find expected ',' or ']'", bracket: true, lag: 1, advice: "a list whose bracket is not closed: close it, or put commas between its items"},
	{text: "did not find expected ',' or '}'", bracket: true, lag: 1, advice: "an object whose brace is not closed: close it, or put commas between its fields"},
	{text: "did not find expected node content", exact: true, lag: 1, advice: "a value is missing before this: check the brackets and commas"},
	{text: "did not find expected <document start>", exact: true, lag: 1, advice: "text after the end of the object: start another one with three dashes on a line"},
	{text: "found unexpected end of stream", advice: "quotes that are not closed"},
	{text: "found unexpected document indicator", advice: "quotes that are not closed before the end of the document"},
	{text: "found unknown escape character", exact: true, advice: "a backslash that starts no escape: double it, or use single quotes"},
	{text: "did not find expected hexdecimal number", exact: true, advice: "an escape that lacks digits: double the backslash, or use single quotes"},
	{text: "control characters are not allowed", exact: true, advice: "a control character: remove it (colours of a terminal are often the cause)"},
	{text: "exceeded max depth", advice: tree.ErrTooDeep.Error() + ", and no Kubernetes object does"},
	{text: "found a tab character", exact: true, advice: tabAdvice},
}

const gluedAdvice = "a separator is glued to the end of this line: start a new line before the three dashes"

const tabAdvice = "a tab in the indentation, which YAML does not allow: use spaces"

// maxProbed bounds the documents in which the exact place is looked for.
const maxProbed = 256 << 10

// stopsAt finds the last byte of the shortest beginning of a document that fails with the same error.
func stopsAt(d document, message string) (int, bool) {
	text := d.withoutMarks()
	if len(text) > maxProbed {
		return 0, false
	}
	fails := func(size int) bool {
		for size < len(text) && !utf8.RuneStart(text[size]) {
			size++
		}
		_, err := parseYAML(document{text: text[:size], line: 1})
		return err != nil && strings.HasSuffix(err.Error(), message)
	}
	low, high := 0, len(text) // fails(high), and not fails(low)
	if !fails(high) {
		return 0, false
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; fails(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	at := high - 1
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return startsAt(d, at+len(d.text)-len(text)), true
}

// maxLines bounds the lines that are tried.
const maxLines = 64

// startsAt goes back from where text stops making sense to the first line with which it does not: a key without a colon,
// for example, is one only once a line follows that does not go on from it.
func startsAt(d document, at int) int {
	line := bytes.LastIndexByte(d.text[:at], '\n') + 1
	for tries := 0; line > 0 && tries < maxLines; tries++ {
		above := bytes.LastIndexByte(d.text[:line-1], '\n') + 1
		if _, err := parseYAML(document{text: d.text[:line], line: 1}); err == nil {
			if bytes.IndexByte(d.text[line:at], '\n') < 0 {
				return at
			}
			indent := len(d.text[line:]) - len(bytes.TrimLeft(d.text[line:], " \t"))
			return line + indent
		}
		line = above
	}
	return at
}

// maxBrackets bounds the brackets that are tried.
const maxBrackets = 64

// opensAt finds the bracket that is never closed: the last one with nothing unclosed before it.
func opensAt(d document) (int, bool) {
	text := d.withoutMarks()
	for at, tries := len(text), 0; len(text) <= maxProbed && tries < maxBrackets; tries++ {
		if at = bytes.LastIndexAny(text[:at], "[{"); at < 0 {
			break
		}
		_, err := parseYAML(document{text: text[:at], line: 1})
		if err == nil || !strings.Contains(err.Error(), "did not find expected ','") {
			return at + len(d.text) - len(text), true
		}
	}
	return 0, false
}

// explain is the place of a byte, with better advice if a tab in the indentation or a separator at the end of its line is
// to blame.
func (d document) explain(at int, advice string) (tree.Pos, string) {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	indent := d.text[start : start+len(d.text[start:])-len(bytes.TrimLeft(d.text[start:], " \t"))]
	line, _, _ := bytes.Cut(d.text[start:], []byte("\n"))
	if line = bytes.TrimSpace(line); bytes.HasSuffix(line, []byte("---")) && len(line) > len("---") {
		return d.position(start + bytes.Index(d.text[start:], line) + len(line) - len("---")), gluedAdvice
	}
	if tab := bytes.IndexByte(indent, '\t'); tab >= 0 {
		return d.position(start + tab), tabAdvice
	}
	return d.position(at), advice
}

// column is where a line of the document has its first quote or, without one, its first character.
func (d document) column(line int) int {
	lines := bytes.SplitN(d.text, []byte("\n"), line+1)
	if line > len(lines) {
		return 1
	}
	text := lines[line-1]
	if quote := bytes.IndexAny(text, "\"'"); quote >= 0 {
		return quote + 1
	}
	return len(text) - len(bytes.TrimLeft(text, " \t")) + 1
}

// alias finds an alias of a name.
func (d document) alias(name string) tree.Pos {
	re := regexp.MustCompile(`(?:^|[\s,\[{:-])(\*` + regexp.QuoteMeta(name) + `)(?:[\s,\]}]|$)`)
	if m := re.FindSubmatchIndex(d.text); m != nil {
		return d.position(m[2])
	}
	return tree.PosAt(d.line, 1)
}

// looksLikeJSON says whether a document in braces is JSON to whoever wrote it.
func looksLikeJSON(body []byte) bool {
	rest := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("{")), " \t\r\n")
	return len(rest) > 0 && rest[0] == '"'
}

// jsonProblem says where a document stops being JSON.
func jsonProblem(d document, body []byte, err error) (tree.Pos, string) {
	start := bytes.Index(d.text, body)
	if errors.Is(err, tree.ErrTooDeep) {
		return d.position(start), tree.ErrTooDeep.Error() + ", and no Kubernetes object does"
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		if _, err := dec.Token(); err != nil {
			break
		}
	}
	at := int(dec.InputOffset())
	for at < len(body)-1 && strings.IndexByte(" \t\r\n,:", body[at]) >= 0 {
		at++
	}
	if r, _ := utf8.DecodeRune(body[min(at, len(body)-1):]); isInvisible(r) {
		return d.position(start + at), invisibleMessage(r)
	}
	return d.position(start + min(at, len(body)-1)), fmt.Sprintf("JSON: %v: check the commas, quotes and braces before this", err)
}
