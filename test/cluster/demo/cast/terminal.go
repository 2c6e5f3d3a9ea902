// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cell is a character on the screen and its look, the parameters of an SGR
// sequence.
type cell struct {
	char rune
	look string
}

var blank = cell{char: ' '}

// screen is the rows that are seen. A row that was written is never changed in
// place, so that rows can be kept.
type screen [][]cell

// terminal understands what the demo writes, and no more.
type terminal struct {
	columns  int
	screen   screen
	row, col int
	look     string
}

func newTerminal(columns, rows int) *terminal {
	t := &terminal{columns: columns, screen: make(screen, rows)}
	t.clear(0)
	return t
}

// sequence is a control sequence: its parameters and what it is.
var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

// write shows text.
func (t *terminal) write(text string) error {
	for text != "" {
		if text[0] == '\x1b' {
			parts := sequence.FindStringSubmatch(text)
			if parts == nil {
				return fmt.Errorf("an unknown sequence: %q", text[:min(len(text), 10)])
			}
			if err := t.control(parts[2], parts[1]); err != nil {
				return err
			}
			text = text[len(parts[0]):]
			continue
		}
		end := strings.IndexByte(text, '\x1b')
		if end < 0 {
			end = len(text)
		}
		for _, char := range text[:end] {
			t.put(char)
		}
		text = text[end:]
	}
	return nil
}

func (t *terminal) put(char rune) {
	switch char {
	case '\r':
		t.col = 0
	case '\n':
		t.feed()
	default:
		if t.col == t.columns {
			t.col = 0
			t.feed()
		}
		row := slices.Clone(t.screen[t.row])
		row[t.col] = cell{char, t.look}
		t.screen[t.row] = row
		t.col++
	}
}

// feed goes a row down, and scrolls at the last.
func (t *terminal) feed() {
	if t.row++; t.row == len(t.screen) {
		t.row--
		t.screen = append(slices.Clone(t.screen[1:]), t.empty())
	}
}

func (t *terminal) control(what, parameters string) error {
	n, err := strconv.Atoi(parameters)
	switch {
	case what == "m":
		if t.look = parameters; parameters == "0" {
			t.look = ""
		}
	case what == "A" && err == nil:
		t.row = max(0, t.row-n)
	case what == "K" && parameters == "":
		t.erase()
	case what == "J" && parameters == "":
		t.erase()
		t.clear(t.row + 1)
	default:
		return fmt.Errorf("an unknown sequence: ESC[%s%s", parameters, what)
	}
	return nil
}

// erase empties the row from the cursor on.
func (t *terminal) erase() {
	row := slices.Clone(t.screen[t.row])
	copy(row[t.col:], t.empty())
	t.screen[t.row] = row
}

// clear empties rows from one on.
func (t *terminal) clear(from int) {
	for i := from; i < len(t.screen); i++ {
		t.screen[i] = t.empty()
	}
}

func (t *terminal) empty() []cell { return slices.Repeat([]cell{blank}, t.columns) }
