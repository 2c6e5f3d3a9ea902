// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Outcome of a rule.
type Outcome uint8

// Outcomes, from what says least.
const (
	Passes   Outcome = iota // nothing to do, and nothing to say
	Mentions                // something to say that changes no phase
	Waits                   // for something that comes by itself or from the sync tool
	Blocks                  // until a person does something
	Acts
)

func (o Outcome) String() string {
	return [...]string{"passes", "mentions", "waits", "blocks", "acts"}[o]
}

// A Verdict is what one rule makes of a snapshot.
type Verdict struct {
	Outcome Outcome
	// Phase is set by rules that give the fleet a phase of their own. Otherwise it follows from the outcome.
	Phase   v1alpha1.Phase
	Reason  v1alpha1.Reason
	Message string
	// Until is when the verdict changes if nothing else does, zero for never.
	Until time.Time
	// Recheck says that no watch may show what the rule waits for.
	Recheck bool
	// Action to take, nil unless the outcome is Acts.
	Action *Action
	// Due is since when the action has been due, zero where no wait led to it.
	Due time.Time
}

// A Check is one condition that a rule looked at.
type Check struct {
	What   string
	Holds  bool
	Detail string
	Until  time.Time // when it is to hold, zero when that is not known
}

func passes() Verdict { return Verdict{} }

func mentions(message string, until time.Time) Verdict {
	return Verdict{Outcome: Mentions, Message: message, Until: until}
}

func waits(reason v1alpha1.Reason, message string) Verdict {
	return Verdict{Outcome: Waits, Reason: reason, Message: message}
}

func blocks(reason v1alpha1.Reason, message string) Verdict {
	return Verdict{Outcome: Blocks, Reason: reason, Message: message}
}

func acts(reason v1alpha1.Reason, message string, action Action) Verdict {
	return Verdict{Outcome: Acts, Reason: reason, Message: message, Action: &action}
}

// during gives the fleet another phase than the one that follows from the outcome.
func (v Verdict) during(phase v1alpha1.Phase) Verdict {
	v.Phase = phase
	return v
}

func (v Verdict) until(t time.Time) Verdict {
	v.Until = t
	return v
}

func (v Verdict) due(t time.Time) Verdict {
	v.Due = t
	return v
}

func (v Verdict) recheck() Verdict {
	v.Recheck = true
	return v
}

// phase of a fleet that this verdict decides about.
func (v *Verdict) phase() v1alpha1.Phase {
	switch {
	case v.Phase != "":
		return v.Phase
	case v.Outcome == Blocks:
		return v1alpha1.PhaseBlocked
	case v.Outcome == Waits, v.Outcome == Acts:
		return v1alpha1.PhaseProvisioning
	default:
		return v1alpha1.PhaseReady
	}
}
