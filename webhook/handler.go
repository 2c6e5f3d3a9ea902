// SPDX-License-Identifier: Apache-2.0

// Package webhook answers admission reviews over HTTP: it reads a review within bounds, gathers the facts that its rules need
// and no others, asks package rules for the verdict, and encodes the answer. It mutates no object, and calls nothing but the API
// server.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/fleetwright/fleetwright/webhook/rules"
)

const (
	// maxBody bounds a review: two objects of the 3 MiB that the API server takes at most, and the rest of the request.
	maxBody = 7 << 20
	// largeBody is more than any review of a fleet's object; a few of that size are read at a time, one from an address.
	largeBody  = 256 << 10
	largeSlots = 2
	slots      = 32
	// maxHeld bounds what has arrived of all other reviews together: a sixteenth of what the chart lets a Pod take, and more than
	// three API servers send of the largest fleet, each on all streams of a connection.
	maxHeld = 32 << 20
	// chunk is how much of a body is read before it is counted.
	chunk = 32 << 10
	// readTime is what the facts of a review may take: less than the API server waits for the answer.
	readTime = 3 * time.Second
)

// A Gatherer reads facts. It fills in those that are needed and says in each why it could not.
type Gatherer interface {
	Gather(ctx context.Context, in *rules.Input, needs rules.Needs)
	GatherNamespace(ctx context.Context, in *rules.Input)
}

// Handler answers admission reviews over HTTP.
type Handler struct {
	healer  string
	facts   Gatherer
	metrics *Metrics
	clock   clock.PassiveClock
	log     logr.Logger

	slots, large chan struct{}
	held         shares   // bytes
	largeFrom    sync.Map // addresses that send a large review
}

// NewHandler returns a Handler.
func NewHandler(healer string, facts Gatherer, metrics *Metrics, c clock.PassiveClock, log logr.Logger) *Handler {
	return &Handler{
		healer: healer, facts: facts, metrics: metrics, clock: c, log: log,
		slots: make(chan struct{}, slots), large: make(chan struct{}, largeSlots), held: shares{by: map[string]int64{}},
	}
}

// ServeHTTP reads a review, judges it and answers. A body that is no review gets an HTTP error, to which the API server
// applies the failure policy.
//
// Memory stays bounded however many reviews come in. A review waits for its turn only once it is read: bodies that are not
// read fill the connection, which carries them all, and nobody's turn would ever end. So as many are read as maxHeld holds, each
// address with its share, and the rest is told to come again, which API servers do by themselves. Large ones do not wait at all.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.clock.Now()
	from, taken := address(r), int64(0)
	large := r.ContentLength < 0 || r.ContentLength > largeBody
	if large {
		if _, another := h.largeFrom.LoadOrStore(from, true); another {
			h.refuse(w, http.StatusServiceUnavailable, errors.New("too many large reviews at once: try again"))
			return
		}
		defer h.largeFrom.Delete(from)
		select {
		case h.large <- struct{}{}:
			defer func() { <-h.large }()
		default:
			h.refuse(w, http.StatusServiceUnavailable, errors.New("too many large reviews at once: try again"))
			return
		}
	}
	defer func() { h.held.leave(from, taken) }()
	body, err := readBody(http.MaxBytesReader(w, r.Body, maxBody), r.ContentLength, func(n int64) bool {
		if large {
			return true
		}
		taken += n
		return h.held.take(from, n)
	})
	if errors.Is(err, errNoRoom) {
		h.refuse(w, http.StatusServiceUnavailable, err)
		return
	} else if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		h.refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("a review has at most %d bytes", tooLarge.Limit))
		return
	} else if err != nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	if !large {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-r.Context().Done():
			return // the client is gone
		}
	}
	in, err := rules.Decode(body, h.healer)
	if in == nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	response := h.answer(r.Context(), in, err)
	h.metrics.observe(in.Resource, h.clock.Since(start))
	h.write(w, response)
}

var errNoRoom = errors.New("too many reviews at once: try again")

// readBody takes memory for what has arrived, and at most for as much again: an upload that announces much and sends little takes
// little from the others.
func readBody(body io.Reader, announced int64, take func(int64) bool) ([]byte, error) {
	var read bytes.Buffer
	for {
		if more := min(announced-int64(read.Len()), max(int64(read.Len()), chunk)); more > 0 {
			read.Grow(int(more) + bytes.MinRead)
		}
		n, err := io.CopyN(&read, body, chunk)
		switch {
		case !take(n):
			return nil, errNoRoom
		case errors.Is(err, io.EOF):
			return read.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// answer judges a request: the facts that its rules need, the verdict, and the namespace where that could change it.
func (h *Handler) answer(ctx context.Context, in *rules.Input, malformed error) *admissionv1.AdmissionResponse {
	uid := types.UID(in.UID)
	if malformed != nil {
		h.metrics.malformed()
		h.log.Info("malformed", "resource", in.Resource, "namespace", in.Namespace, "name", in.Name, "error", malformed.Error())
		return failed(uid, http.StatusBadRequest, metav1.StatusReasonBadRequest, "cannot be judged: "+malformed.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	h.facts.Gather(ctx, in, rules.Needed(in))
	verdict := rules.Review(in)
	if verdict.Outcome != rules.Allow && in.Namespace != "" {
		h.facts.GatherNamespace(ctx, in)
		verdict = rules.Review(in)
	}
	h.metrics.judged(verdict)
	if verdict.Outcome != rules.Allow {
		h.log.Info("refused", "outcome", verdict.Outcome, "operation", in.Operation, "resource", in.Resource, "namespace", in.Namespace,
			"name", in.Subject().Name, "user", in.User, "dryRun", in.DryRun, "reasons", verdict.Reasons)
	}
	return response(uid, verdict)
}

// retryAfter is when to try again what could not be judged. Clients do so by themselves, ten times.
const retryAfter = time.Second

// response is a verdict as the API server reads it. A denial is Forbidden, never Invalid: sync tools take Invalid for a field
// that is immutable, and some delete the object and create it again.
func response(uid types.UID, v rules.Verdict) *admissionv1.AdmissionResponse {
	causes := make([]metav1.StatusCause, 0, len(v.Reasons))
	for _, r := range v.Reasons {
		causes = append(causes, metav1.StatusCause{Field: r.Field, Message: r.Problem + ": " + r.Remedy})
	}
	var out *admissionv1.AdmissionResponse
	switch v.Outcome {
	case rules.Allow:
		return &admissionv1.AdmissionResponse{UID: uid, Allowed: true, Warnings: v.Warnings}
	case rules.Deny:
		out = failed(uid, http.StatusForbidden, metav1.StatusReasonForbidden, v.String())
	default:
		out = failed(uid, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, v.String())
		out.Result.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter / time.Second)}
		return out
	}
	out.Result.Details = &metav1.StatusDetails{Causes: causes}
	return out
}

func failed(uid types.UID, code int32, reason metav1.StatusReason, message string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{UID: uid, Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

func (h *Handler) refuse(w http.ResponseWriter, code int, err error) {
	h.metrics.malformed()
	h.log.Info("not a review", "error", err.Error())
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	}
	http.Error(w, err.Error(), code)
}

func (h *Handler) write(w http.ResponseWriter, response *admissionv1.AdmissionResponse) {
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	})
	if err != nil {
		h.log.Info("the answer was not read", "error", err.Error())
	}
}
