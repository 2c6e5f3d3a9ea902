// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errUnchanged is a write that succeeds and changes nothing.
var errUnchanged = errors.New("unchanged")

// answer is what the API server says to a write, "VERB KIND NAME ...", because of a policy, a quota or somebody who is always
// faster. An answer to "VERB KIND *" is one to all of a kind.
func (w *world) answer(what string) error {
	words := strings.Fields(what)
	if len(words) < 3 {
		return nil
	}
	verb, kind, name := words[0], words[1], words[2]
	how, ok := w.answers[strings.Join(words[:3], " ")]
	if !ok {
		how = w.answers[verb+" "+kind+" *"]
	}
	resource := schema.GroupResource{Resource: strings.ToLower(kind) + "s"}
	switch how {
	case "":
		return nil
	case "forbidden":
		return apierrors.NewForbidden(resource, name, errors.New("a policy refuses it"))
	case "quota":
		return apierrors.NewForbidden(resource, name, errors.New("exceeded quota: compute, requested: pods=1, used: pods=3, limited: pods=3"))
	case "conflict":
		return apierrors.NewConflict(resource, name, errors.New("the object has been modified"))
	case "unchanged":
		return errUnchanged
	}
	return fmt.Errorf("no answer is %q", how)
}

// maxIdle is how often the healer may send a write in a minute that is refused or changes nothing: its queue backs off from a
// tenth of a second to a minute, which makes ten after three free tries. A Pod that is made anew begins such a row in the middle of another.
const maxIdle = 20

// idle counts writes that are refused, or change nothing.
func (w *world) idle(what string) {
	times := append(w.idled[what], w.now())
	times = slices.DeleteFunc(times, func(t time.Time) bool { return w.now().Sub(t) >= time.Minute })
	if w.idled[what] = times; len(times) == maxIdle+1 {
		w.violated("%s is tried more than %d times in a minute, and changes nothing", what, maxIdle)
	}
}

// arrives sends the write that a stopped healer had in hand. The trace tells what becomes of it.
func (w *world) arrives() {
	w.deciding = true
	_ = w.late()
	w.deciding, w.late = false, nil
}
