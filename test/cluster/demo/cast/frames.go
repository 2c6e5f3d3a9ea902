// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"fmt"
	"slices"
	"time"
)

// frame is a screen, and how long it is shown.
type frame struct {
	screen screen
	hold   time.Duration
}

// shot is a screen at its time in a recording.
type shot struct {
	screen
	at      time.Duration
	last    bool // of its chapter
	changed int  // characters that are news, beside the shot before
}

// How long a frame is shown is how long it takes to read what is new in it, or
// as long as it lasted, within bounds. A run of frames in which only clocks
// move, which is what waiting looks like, is played fast and not in full.
const (
	perChar    = 7 * time.Millisecond
	shortest   = 350 * time.Millisecond
	longest    = 1500 * time.Millisecond
	afterPart  = 1200 * time.Millisecond
	atTheEnd   = 4 * time.Second
	tick       = 100 * time.Millisecond
	ticksInRun = 12
)

// faint is the look of clocks.
const faint = "2"

// frames plays a recording. Each chapter begins on an empty screen.
func frames(r *Recording) ([]frame, error) {
	shots, err := shoot(r)
	if err != nil {
		return nil, err
	}
	var out []frame
	for i := 0; i < len(shots); {
		end := i + 1
		for end < len(shots) && shots[end].changed == 0 {
			end++
		}
		s := shots[i]
		read := min(max(time.Duration(s.changed)*perChar, shortest), longest)
		if end == i+1 && end < len(shots) {
			read = min(max(read, shots[end].at-s.at), longest)
		}
		out = append(out, frame{s.screen, read})
		for _, waiting := range thin(shots[i+1 : end]) {
			out = append(out, frame{waiting.screen, tick})
		}
		if shots[end-1].last {
			out[len(out)-1].hold += afterPart
		}
		i = end
	}
	if len(out) > 0 {
		out[len(out)-1].hold = atTheEnd
	}
	return out, nil
}

// shoot takes a shot of each screen that differs from the one before.
func shoot(r *Recording) ([]shot, error) {
	t := newTerminal(r.Columns, r.Rows)
	before := slices.Clone(t.screen)
	var out []shot
	for i, e := range r.Events {
		if e.Mark {
			t = newTerminal(r.Columns, r.Rows)
			if len(out) > 0 {
				out[len(out)-1].last = true
			}
			continue
		}
		if err := t.write(e.Text); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		now := slices.Clone(t.screen)
		if slices.EqualFunc(now, before, slices.Equal[[]cell]) {
			continue
		}
		out = append(out, shot{screen: now, at: e.At, changed: news(before, now)})
		before = now
	}
	return out, nil
}

// news counts the characters that are new, but for clocks.
func news(before, now screen) int {
	n := 0
	for y, row := range now {
		for x, c := range row {
			if was := before[y][x]; c != was && c.char != blank.char && c.look != faint && was.look != faint {
				n++
			}
		}
	}
	return n
}

// thin leaves some of the shots of a run, the last among them.
func thin(run []shot) []shot {
	if len(run) <= ticksInRun {
		return run
	}
	out := make([]shot, ticksInRun)
	for i := range out {
		out[i] = run[(i+1)*len(run)/ticksInRun-1]
	}
	return out
}
