// SPDX-License-Identifier: Apache-2.0

// Package cast records what a program shows on a terminal, in version 2 of
// asciinema's format, and draws a recording as an animated SVG.
package cast

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Recording is what was shown.
type Recording struct {
	Columns, Rows int
	Events        []Event
}

// Event is text that was written, or a mark, at a time since the start.
type Event struct {
	At   time.Duration
	Mark bool
	Text string
}

type header struct {
	Version   int   `json:"version"`
	Width     int   `json:"width"`
	Height    int   `json:"height"`
	Timestamp int64 `json:"timestamp,omitempty"`
}

// Kinds of events; there are more, which say nothing about what is shown.
const (
	output = "o"
	mark   = "m"
)

// Recorder writes a recording. Each Write is an event.
type Recorder struct {
	out     io.Writer
	now     func() time.Time
	started time.Time
}

// NewRecorder begins a recording for a terminal of a size.
func NewRecorder(out io.Writer, columns, rows int, now func() time.Time) (*Recorder, error) {
	r := &Recorder{out: out, now: now, started: now()}
	return r, r.line(header{Version: 2, Width: columns, Height: rows, Timestamp: r.started.Unix()})
}

// Write records text. Its line feeds are those that a terminal gets.
func (r *Recorder) Write(p []byte) (int, error) {
	return len(p), r.event(output, strings.ReplaceAll(string(p), "\n", "\r\n"))
}

// Mark records the beginning of a chapter.
func (r *Recorder) Mark(title string) { _ = r.event(mark, title) }

func (r *Recorder) event(kind, text string) error {
	return r.line([]any{float64(r.now().Sub(r.started).Milliseconds()) / 1000, kind, text})
}

func (r *Recorder) line(value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(content, '\n'))
	return err
}

// Read reads a recording.
func Read(in io.Reader) (*Recording, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("an empty recording"), lines.Err())
	}
	var head header
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if head.Version != 2 || head.Width < 1 || head.Height < 1 {
		return nil, errors.New("line 1: not version 2, or without a size")
	}
	out := &Recording{Columns: head.Width, Rows: head.Height}
	for n := 2; lines.Scan(); n++ {
		event, kind, err := parse(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if kind == output || kind == mark {
			event.Mark = kind == mark
			out.Events = append(out.Events, event)
		}
	}
	return out, lines.Err()
}

func parse(content []byte) (event Event, kind string, err error) {
	var seconds float64
	fields := []any{&seconds, &kind, &event.Text}
	if err := json.Unmarshal(content, &fields); err != nil {
		return Event{}, "", err
	}
	if len(fields) != 3 {
		return Event{}, "", errors.New("an event has three parts")
	}
	event.At = time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	return event, kind, nil
}
