// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// view is a fleet as its API shows it.
type view struct {
	fleet  *v1alpha1.PersistentFleet // nil: there is none
	events []eventsv1.Event          // what the healer did lately, the oldest first
}

// table is a view in lines, most of them of at most a width; zero is any. It
// stands between empty lines.
func (v view) table(width int, now time.Time) []line {
	if v.fleet == nil {
		return nil
	}
	status := v.fleet.Status
	out := append([]line{{}}, v.summary(width)...)
	out = append(out, line{})
	if len(status.Members) > 0 {
		rows := []line{cells(bold, "NAME", "ZONE", "NODE", "DISK", "STATE", "SINCE", "MESSAGE")}
		for _, m := range status.Members {
			rows = append(rows, member(m, now))
		}
		align(rows)
		out = append(append(out, rows...), line{})
	}
	for i := range v.events {
		out = append(out, event(&v.events[i], width)...)
	}
	if len(v.events) > 0 {
		out = append(out, line{})
	}
	return out
}

// summary is the fleet's phase, reason and message.
func (v view) summary(width int) []line {
	status := v.fleet.Status
	head := line{
		{v.fleet.Name + "  ", bold},
		{fmt.Sprintf("%d of %d ready  ", status.ReadyReplicas, status.DesiredReplicas), plain},
		{string(status.Phase), phaseStyle(status.Phase)},
	}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return []line{head}
	}
	head = append(head, span{"  " + ready.Reason, plain})
	out := []line{head}
	for _, piece := range wrapped(ready.Message, width, 3) {
		out = append(out, text(plain, piece))
	}
	return out
}

// event is what the healer says that it did.
func event(e *eventsv1.Event, width int) []line {
	look := green
	if e.Type == corev1.EventTypeWarning {
		look = yellow
	}
	head := e.Reason + "  "
	indent := utf8.RuneCountInString(head)
	var out []line
	for i, piece := range wrapped(e.Note, max(0, width-indent), 2) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		out = append(out, line{{head, look}, {piece, plain}})
	}
	return out
}

// wrapped is wrap without what is too much.
func wrapped(t string, width, lines int) []string {
	out := wrap(t, width)
	if len(out) > lines {
		out = out[:lines]
		last := []rune(out[lines-1])
		out[lines-1] = string(last[:min(len(last), width-1)]) + "…"
	}
	return out
}

func member(m v1alpha1.MemberStatus, now time.Time) line {
	since := ""
	if m.Since != nil {
		since = duration.HumanDuration(now.Sub(m.Since.Time).Truncate(time.Second))
	}
	row := cells(plain, m.Name, m.Zone, m.Node, string(m.Disk), string(m.State), since, m.Message)
	row[3].style = diskStyle(m.Disk)
	row[4].style = stateStyle(m.State)
	row[5].style = clock
	return row
}

func phaseStyle(p v1alpha1.Phase) style {
	switch p {
	case v1alpha1.PhaseReady:
		return green
	case v1alpha1.PhaseBlocked:
		return red
	default:
		return yellow
	}
}

func stateStyle(s v1alpha1.MemberState) style {
	switch s {
	case v1alpha1.MemberReady:
		return green
	case v1alpha1.MemberStarting:
		return yellow
	default:
		return red
	}
}

func diskStyle(d v1alpha1.DiskState) style {
	switch d {
	case v1alpha1.DiskLost, v1alpha1.DiskTerminating:
		return red
	default:
		return plain
	}
}

// cells makes a row that is not aligned yet.
func cells(s style, values ...string) line {
	row := make(line, len(values))
	for i, value := range values {
		row[i] = span{value, s}
	}
	return row
}

// columns are at least so wide that they stay where they are while members change.
var columns = []int{0, 0, 16, len(v1alpha1.DiskTerminating), len(v1alpha1.MemberTerminating), 5}

// align pads the cells of rows to columns.
func align(rows []line) {
	for i, wide := range columns {
		for _, row := range rows {
			wide = max(wide, utf8.RuneCountInString(row[i].text))
		}
		for _, row := range rows {
			row[i].text += strings.Repeat(" ", wide+2-utf8.RuneCountInString(row[i].text))
		}
	}
}
