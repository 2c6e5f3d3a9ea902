// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// Request names a fleet.
type Request struct {
	Kind string
	types.NamespacedName
}

func (r Request) String() string { return r.Kind + " " + r.NamespacedName.String() }

// Healer looks after fleets. Its fields are set before it is used, and not changed.
type Healer struct {
	// Client reads from caches and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Recorder publishes events about fleets.
	Recorder events.EventRecorder
	// Clock is read once for each look at a fleet.
	Clock clock.PassiveClock
	// Policy of this healer.
	Policy rules.Policy
	// Zone of a node, "" when it is not known. Default: not known.
	Zone func(node string) string
	// Nodes returns the names of the nodes in a zone. Default: from the manager's cache.
	Nodes func(ctx context.Context, zone string) ([]string, error)
	// Skew of this process's own clock. Nil means none.
	Skew *Skew
	// Metrics may be nil.
	Metrics *Metrics

	views  *views
	memory *memory
	tries  *tries
	routes []func() error // start to watch HTTPRoutes, once there are any
}

const (
	// staleRetry is when to look again at caches that lag behind the healer's own write. Their watch usually is faster.
	staleRetry = 200 * time.Millisecond
	// changedRetry is when to look again at a cluster that is not as the caches show it.
	changedRetry = 500 * time.Millisecond
	// afterAction is when to look again after an action, if no watch shows it before.
	afterAction = 100 * time.Millisecond
	// actionTimeout bounds one action, which a graceful stop waits for.
	actionTimeout = 20 * time.Second
	// lookTimeout bounds one look at a fleet, so that one that hangs does not keep the healer from the others.
	lookTimeout = time.Minute
	// maxAge is how long the live reads that confirm a decision may take: what they showed first may be over.
	maxAge = 5 * time.Second
	// maxEvents of a workload are read, and recentEvent is how old one may be: a controller that is refused tries again, and says
	// so, at most every 17 minutes.
	maxEvents   = 50
	recentEvent = 20 * time.Minute
)

// errChanged is returned by an action whose preconditions do not hold any more.
var errChanged = errors.New("the cluster changed meanwhile")

// Reconcile looks at a fleet and does at most one thing about it.
func (h *Healer) Reconcile(ctx context.Context, request Request) (reconcile.Result, error) {
	result, err := h.look(ctx, request)
	if apierrors.IsForbidden(err) {
		if released, failed := (&releaser{h.Live, h.Client}).release(ctx, request); released {
			h.forget(request)
			return reconcile.Result{}, nil
		} else if failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return reconcile.Result{}, nil // the healer stops; the next one looks again
	}
	return result, err
}

func (h *Healer) look(ctx context.Context, request Request) (reconcile.Result, error) {
	// 1. The fleet, from a view that shows the healer's own last write.
	fleet, err := getFleet(ctx, h.Client, request)
	if err != nil {
		return reconcile.Result{}, err
	}
	if fleet == nil {
		h.forget(request)
		return reconcile.Result{}, nil
	}
	if current, err := h.views.current(ctx, h.Client, request); err != nil || !current {
		h.Metrics.stale(request)
		return reconcile.Result{RequeueAfter: staleRetry}, err
	}
	// 2. Observe and decide.
	now := h.Clock.Now()
	if fleet.Shared().Routing.Gateway != nil {
		for _, watch := range h.routes {
			if err := watch(); err != nil {
				return reconcile.Result{}, err
			}
		}
	}
	cached := &rules.Observer{
		Objects: objects{h.Client}, ByName: objects{h.Live}, Zone: h.zone, Nodes: h.Nodes, Memory: h.memory, Refused: h.refused,
	}
	snapshot, decision, err := h.decide(ctx, cached, fleet, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	// 3. Confirm against live reads, and act.
	if decision.Action != nil {
		if why, until := h.tries.wait(request, decision.Action, now); why != "" {
			decision.Message += fmt.Sprintf("; %s, tried again at %s", why, until.UTC().Format(time.RFC3339))
			decision.Action, decision.Next = nil, until
		}
	}
	if action := decision.Action; action != nil {
		snapshot, decision, err = h.confirmAndAct(ctx, request, snapshot, decision, now)
		if errors.Is(err, errChanged) {
			h.tries.tried(request, action, "the cluster changed each time before it was done", h.Clock.Now())
			return reconcile.Result{RequeueAfter: changedRetry}, nil
		}
		if err != nil && decision != nil {
			decision.Message = fmt.Sprintf("%s; this fails, and is tried again: %s", rules.Sentence(decision.Message), rules.Sentence(err.Error()))
			err = errors.Join(err, h.publish(ctx, request, fleet, snapshot, decision, now))
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		if decision.Action != nil && decision.Action.Verb == rules.VerbRemoveFinalizer {
			h.forget(request)
			return reconcile.Result{}, nil
		}
	}
	// 4. Publish, and look again at the next deadline.
	if err := h.publish(ctx, request, fleet, snapshot, decision, now); err != nil {
		return reconcile.Result{}, err
	}
	h.Metrics.held(h.memory.looked(request, snapshot.Fleet.Identity, decision.Braked))
	return h.next(snapshot, decision, now), nil
}

// next returns when to look again: soon after an action, else at the deadline of the decision, if there is one.
func (h *Healer) next(s *rules.Snapshot, d *rules.Decision, now time.Time) reconcile.Result {
	if d.Action != nil {
		return reconcile.Result{RequeueAfter: afterAction}
	}
	next := d.Next
	if s.Route != nil && s.Route.Unwatched {
		if recheck := now.Add(rules.RecheckAfter); next.IsZero() || recheck.Before(next) {
			next = recheck
		}
	}
	if next.IsZero() {
		return reconcile.Result{}
	}
	// The queue counts from now on, and reading and publishing took a while.
	return reconcile.Result{RequeueAfter: max(next.Sub(h.Clock.Now()), time.Millisecond)}
}

func (h *Healer) decide(
	ctx context.Context, o *rules.Observer, fleet v1alpha1.Fleet, now time.Time,
) (*rules.Snapshot, *rules.Decision, error) {
	s, err := o.Observe(ctx, fleet, now)
	if err != nil {
		return nil, nil, err
	}
	d := rules.Decide(s, h.Policy, now)
	return s, &d, nil
}

// confirmAndAct decides again on what the API server says now, and acts only if that is the same. Otherwise the newer
// decision is reported, or, if it wants to act too, left to the next look. With an error it returns what failed, if it came
// that far.
func (h *Healer) confirmAndAct(
	ctx context.Context, request Request, seen *rules.Snapshot, want *rules.Decision, now time.Time,
) (*rules.Snapshot, *rules.Decision, error) {
	began := h.Clock.Now()
	fleet, err := getFleet(ctx, h.Live, request)
	if err != nil {
		return nil, nil, err
	}
	if fleet == nil || string(fleet.GetUID()) != seen.Fleet.UID {
		return nil, nil, errChanged
	}
	live := &rules.Observer{Objects: objects{h.Live}, ByName: objects{h.Live}, Live: true, Zone: h.zone, Nodes: h.Nodes, Memory: h.memory}
	snapshot, decision, err := h.decide(ctx, live, fleet, now)
	if err != nil {
		return nil, nil, err
	}
	snapshot.Route = seen.Route
	if !decision.Action.Same(want.Action) {
		if decision.Action != nil {
			return nil, nil, errChanged
		}
		return snapshot, decision, nil
	}
	logger := log.FromContext(ctx).WithValues("rule", decision.Rule.Name, "action", decision.Action.Verb, "reason", decision.Reason,
		"member", decision.Member)
	act := &actor{
		verbs: verbs{h.Client}, fleet: fleet, memory: h.memory, now: now, wrote: func(w written) { h.views.wrote(request, w) },
	}
	// An action that has begun is finished, even when the healer stops: half of one costs the next healer another look.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionTimeout)
	defer cancel()
	if decision.Rule.Timed {
		err = h.trustworthy(began)
	}
	if err == nil {
		err = act.act(bounded, snapshot, decision.Action)
	}
	if changed(err) {
		logger.Info("not done: "+errChanged.Error(), "message", decision.Message, "cause", err.Error())
		h.Metrics.acted(request, decision, "changed", 0)
		return nil, nil, errChanged
	}
	if err != nil {
		h.tries.tried(request, decision.Action, "refused", h.Clock.Now())
		h.failed(fleet, decision, err)
		h.Metrics.acted(request, decision, "failed", 0)
		return snapshot, decision, err
	}
	logger.Info("done", "message", decision.Message, "targets", names(decision.Action.Targets))
	h.tries.tried(request, decision.Action, "done, and wanted again", h.Clock.Now())
	h.Metrics.acted(request, decision, "done", late(fleet, decision, h.Clock.Now()))
	h.event(fleet, decision.Rule.Name, decision.Action.Event)
	return snapshot, decision, nil
}

// trustworthy says why the waits of a decision that was confirmed by reads since a time cannot be trusted.
func (h *Healer) trustworthy(since time.Time) error {
	if age := h.Clock.Since(since); age > maxAge {
		return fmt.Errorf("the API server took %s for the reads before: what they showed first may be over", age.Round(time.Second))
	}
	return h.Skew.timely()
}

// late returns how long after its time an action was done. That of a fleet that was paused begins when it was resumed.
func late(fleet v1alpha1.Fleet, d *rules.Decision, now time.Time) time.Duration {
	due := d.Due
	if c := meta.FindStatusCondition(fleet.State().Conditions, v1alpha1.ConditionPaused); c != nil {
		if c.Status == metav1.ConditionTrue {
			return 0 // resumed just now
		}
		if resumed := c.LastTransitionTime.Time; resumed.After(due) {
			due = resumed
		}
	}
	return max(now.Sub(due), 0)
}

func (h *Healer) zone(node string) string {
	if h.Zone == nil || node == "" {
		return ""
	}
	return h.Zone(node)
}

func (h *Healer) forget(request Request) {
	h.views.forget(request)
	h.Metrics.held(h.memory.forget(request))
	h.tries.forget(request)
	h.Metrics.forget(request)
}

// refused returns the last event of a workload's controller that says why it could not make a Pod.
func (h *Healer) refused(ctx context.Context, workload rules.Ref) (string, error) {
	var list corev1.EventList
	err := h.Live.List(ctx, &list, client.InNamespace(workload.Namespace), client.Limit(maxEvents),
		client.MatchingFields{"involvedObject.uid": workload.UID, "reason": "FailedCreate"})
	if err != nil {
		return "", err
	}
	text, last := "", time.Time{}
	for i := range list.Items {
		e := &list.Items[i]
		at := e.LastTimestamp.Time
		if at.IsZero() {
			at = e.EventTime.Time
		}
		if !at.Before(last) && h.Clock.Since(at) < recentEvent {
			text, last = e.Message, at
		}
	}
	return text, nil
}

func names(refs []rules.Ref) []string {
	out := make([]string, len(refs))
	for i, ref := range refs {
		out[i] = ref.Kind + "/" + ref.Name
	}
	return out
}

func logFor(logger logr.Logger, request *Request) logr.Logger {
	if request == nil {
		return logger
	}
	return logger.WithValues("kind", request.Kind, "namespace", request.Namespace, "fleet", request.Name)
}
