// SPDX-License-Identifier: Apache-2.0

// Package rules decides about writes to fleets and to what runs them: a request goes in, a verdict comes out.
//
// Review is a pure function of an Input: the request, the facts that its rules need, and who the healer is. The policy is an
// ordered list (rules.go), with one file for each guarded kind. Needed says which facts a request takes; package webhook reads
// them.
package rules

import (
	"cmp"
	"slices"
	"strings"
)

// Outcome of a review.
type Outcome string

// Outcomes. Unknown means that a fact could not be read and the request would be dangerous without it: try again.
const (
	Allow   Outcome = "Allow"
	Deny    Outcome = "Deny"
	Unknown Outcome = "Unknown"
)

// A Verdict is the answer to a request. It is a function of the Input alone.
type Verdict struct {
	Outcome Outcome
	// Reasons of a denial, all of them, sorted by field. Of an Unknown verdict: what could not be read.
	Reasons []Reason
	// Warnings for whoever made the request; a denied request has none.
	Warnings []string
	// Judged says what each rule made of the request, in the order of the rules.
	Judged []Judgement
}

// A Judgement is what one rule made of a request.
type Judgement struct {
	Rule    string
	Outcome Outcome
}

// A Reason is one thing that is wrong.
type Reason struct {
	Field   string // path in the object, or of the request's options
	Problem string
	Remedy  string
}

// String is the reason as people read it.
func (r Reason) String() string { return r.Field + ": " + r.Problem + ": " + r.Remedy }

// String is all that is wrong, a line for each.
func (v Verdict) String() string {
	lines := make([]string, len(v.Reasons))
	for i, r := range v.Reasons {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

// Review judges a request.
//
//  1. An update of an object that is being deleted is admitted: finalizers must go.
//  2. Every rule for the request judges it.
//  3. A terminating namespace blocks nothing.
//  4. One reason to deny is enough, and all are told; else one fact that is unknown and matters; else the request passes.
func Review(in *Input) Verdict {
	if in.Operation == Update && in.Old.Terminating {
		return Verdict{Outcome: Allow}
	}
	v := Verdict{Outcome: Allow}
	var unknown []Reason
	for _, rule := range ordered() {
		if !rule.applies(in) {
			continue
		}
		f := rule.judge(in)
		outcome := Allow
		switch {
		case len(f.reasons) > 0:
			outcome = Deny
			v.Reasons = append(v.Reasons, f.reasons...)
		case f.unknown != "" && rule.closed:
			outcome = Unknown
			unknown = append(unknown, Reason{Field: "request", Problem: "cannot be judged now, " + f.unknown, Remedy: "try again"})
		case f.unknown != "":
			v.Warnings = append(v.Warnings, "admitted without a check, "+f.unknown)
		}
		v.Warnings = append(v.Warnings, f.warnings...)
		v.Judged = append(v.Judged, Judgement{Rule: rule.name, Outcome: outcome})
	}
	switch {
	case len(v.Reasons)+len(unknown) == 0:
	case in.Facts.Namespace.State == Present && in.Facts.Namespace.Value.Terminating || in.Facts.Namespace.State == Absent:
		return Verdict{Outcome: Allow, Judged: admitted(v.Judged)}
	case len(v.Reasons) > 0:
		v.Outcome, v.Warnings = Deny, nil
	default:
		v.Outcome, v.Warnings, v.Reasons = Unknown, nil, unknown
	}
	slices.SortFunc(v.Reasons, func(a, b Reason) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Problem, b.Problem), strings.Compare(a.Remedy, b.Remedy))
	})
	v.Reasons = slices.Compact(v.Reasons)
	return v
}

// admitted is what the rules count as once the namespace turned out to be terminating.
func admitted(judged []Judgement) []Judgement {
	out := slices.Clone(judged)
	for i := range out {
		out[i].Outcome = Allow
	}
	return out
}

// Needed returns the facts that judging a request takes. It is a function of the Input without its facts.
func Needed(in *Input) Needs {
	var needs Needs
	if in.Operation == Update && in.Old.Terminating {
		return needs
	}
	for _, rule := range ordered() {
		if rule.needs != nil && rule.applies(in) {
			needs = needs.and(rule.needs(in))
		}
	}
	return needs
}
