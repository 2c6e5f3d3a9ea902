// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Invisible characters come from web pages and chats. YAML takes them for text, so a line that looks right is part of another, or
// has a key that looks like a known one.

// isInvisible says whether nobody sees a character, or sees a space that is none to YAML.
func isInvisible(r rune) bool { return r != ' ' && unicode.In(r, unicode.Zs, unicode.Cf) }

var invisibleNames = map[rune]string{
	0xa0: "no-break space", 0xad: "soft hyphen", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner", 0x200d: "zero-width joiner",
	0x2007: "figure space", 0x202f: "narrow no-break space", 0x2060: "word joiner", 0x3000: "ideographic space", 0xfeff: "byte order mark",
}

func invisibleMessage(r rune) string {
	name := invisibleNames[r]
	if name == "" {
		name = "invisible character"
	}
	if unicode.Is(unicode.Zs, r) {
		return fmt.Sprintf("a %s (U+%04X), which YAML does not treat as a space: type a space instead", name, r)
	}
	return fmt.Sprintf("a %s (U+%04X), which YAML treats as text: remove it", name, r)
}

// firstInvisible returns the first invisible character of a text and how many characters stand before it, or -1.
func firstInvisible(text string) (rune, int) {
	at := strings.IndexFunc(text, isInvisible)
	if at < 0 {
		return 0, -1
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r, utf8.RuneCountInString(text[:at])
}

// invisibleProblem is about the first invisible character of a text that stands at a place, nil if there is none.
func invisibleProblem(file string, pos tree.Pos, field, text string) *Problem {
	r, before := firstInvisible(text)
	if before < 0 {
		return nil
	}
	if !strings.Contains(text, "\n") { // else it is somewhere below
		pos = tree.PosAt(int(pos.Line), int(pos.Column)+before)
	}
	return &Problem{File: file, Pos: Pos(pos), Field: field, Message: invisibleMessage(r)}
}

// invisibleKeys finds keys with invisible characters, and values without quotes that begin or end with one. Elsewhere in a value they
// may be meant.
func invisibleKeys(file string, n *tree.Node, at string) (problems Problems) {
	if n.Walk(allASCII) {
		return nil
	}
	for _, f := range n.Fields {
		if p := invisibleProblem(file, f.Pos, at, f.Key); p != nil {
			problems = append(problems, *p)
			continue
		}
		problems = append(problems, invisibleKeys(file, f.Value, below(at, f.Key))...)
	}
	for i, item := range n.Items {
		problems = append(problems, invisibleKeys(file, item, fmt.Sprintf("%s[%d]", at, i))...)
	}
	if n.Kind == tree.String && n.Plain && strings.TrimFunc(n.Text, isInvisible) != strings.Trim(n.Text, "\ufeff") {
		problems = append(problems, *invisibleProblem(file, n.Pos, at, n.Text))
	}
	return problems
}

// allASCII says whether a node holds nothing but ASCII, none of which is invisible.
func allASCII(n *tree.Node) bool {
	for i := range n.Fields {
		if !isASCII(n.Fields[i].Key) {
			return false
		}
	}
	return isASCII(n.Text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nameInvisible makes a problem with a value that holds an invisible character one about that character.
// What is said of a value with a byte order mark shows it already.
func nameInvisible(root *tree.Node, p Problem) Problem {
	if n := nodeAt(root, p.Field); n != nil && n.Kind == tree.String && !strings.ContainsRune(n.Text, '\ufeff') {
		if q := invisibleProblem(p.File, n.Pos, p.Field, n.Text); q != nil {
			return *q
		}
	}
	return p
}

// nodeAt returns the node at a path, nil if there is none.
func nodeAt(n *tree.Node, path string) *tree.Node {
	for _, key := range splitPath(path) {
		if _, n = child(n, key); n == nil {
			return nil
		}
	}
	return n
}

// invisibleSpace matches an invisible character where YAML has white space: in the indentation, after a dash, a key or its colon.
var invisibleSpace = regexp.MustCompile(`(?m)^[ \t]*(?:- *|(?:"[^"\n]*"|'[^'\n]*'|[^\s#"':` + invisibles + `][^#"':\n]*):[ \t]*)*` +
	`([` + invisibles + `])`)

// invisibles are those of isInvisible in a class.
const invisibles = `\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}\p{Cf}`

// invisibleSyntax finds the character that keeps a document from being read, if it is an invisible one.
func invisibleSyntax(d document) (tree.Pos, string, bool) {
	for _, m := range invisibleSpace.FindAllSubmatchIndex(d.text, maxLines) {
		r, _ := utf8.DecodeRune(d.text[m[2]:])
		if mark := r == '\ufeff' && (m[2] == 0 || d.text[m[2]-1] == '\n'); !mark {
			return d.position(m[2]), invisibleMessage(r), true
		}
	}
	return tree.Pos{}, "", false
}
