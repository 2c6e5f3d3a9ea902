// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// text is what a screen shows, without looks.
func (s screen) text() string {
	rows := make([]string, len(s))
	for y, row := range s {
		for _, c := range row {
			rows[y] += string(c.char)
		}
		rows[y] = strings.TrimRight(rows[y], " ")
	}
	return strings.Join(rows, "|")
}

func TestTerminal(t *testing.T) {
	for name, c := range map[string]struct{ sent, want string }{
		"lines":                      {"one\r\ntwo", "one|two||"},
		"a line feed keeps a column": {"one\ntwo", "one|   two||"},
		"a carriage return":          {"one\rt", "tne|||"},
		"scrolls":                    {"1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5"},
		"wraps":                      {"123456789", "12345678|9||"},
		"goes up and draws anew":     {"1\r\n2\r\n\x1b[2A\rone\x1b[K\r\n\x1b[J", "one|||"},
		"goes up no further":         {"1\x1b[9A\r2", "2|||"},
		"erases to the end":          {"abc\r12\x1b[K", "12|||"},
		"looks take no place":        {"\x1b[31mred\x1b[0m!", "red!|||"},
		"other letters":              {"✓ – ⋯", "✓ – ⋯|||"},
	} {
		t.Run(name, func(t *testing.T) {
			terminal := newTerminal(8, 4)
			require.NoError(t, terminal.write(c.sent))
			require.Equal(t, c.want, terminal.screen.text())
		})
	}
}

func TestTerminalRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, sent := range []string{"\x1b[2J", "\x1b[1K", "\x1b[AA", "\x1b]0;title\a", "\x1b"} {
		require.ErrorContains(t, newTerminal(8, 4).write(sent), "an unknown sequence", "%q", sent)
	}
}

func TestEachCharacterHasItsLook(t *testing.T) {
	terminal := newTerminal(4, 1)
	require.NoError(t, terminal.write("a\x1b[1mb\x1b[0mc"))
	require.Equal(t, []cell{{'a', ""}, {'b', "1"}, {'c', ""}, blank}, terminal.screen[0])
}
