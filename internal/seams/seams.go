// SPDX-License-Identifier: Apache-2.0

// Package seams is where tests take hold of a program that they run in their own process. Programs set none of them.
package seams

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Healer is what a test may replace of a healer. The zero value replaces nothing.
type Healer struct {
	// Clock says what time it is.
	Clock clock.PassiveClock
	// QueueClock times what is to be looked at later.
	QueueClock clock.WithTicker
	// Registry takes the metrics.
	Registry prometheus.Registerer
	// Client wraps both clients: the one that reads from caches and writes, and the one that reads live.
	Client func(client.WithWatch) client.WithWatch
	// Shown may change what informers show of a Pod before the healer notes it. It gets a copy.
	Shown func(*corev1.Pod)
	// Several healers run in this process.
	Several bool
}

// Webhook is what a test may replace of a webhook. The zero value replaces nothing.
type Webhook struct {
	// DNSNames are names of the server beside those of its Service.
	DNSNames []string
	// Registry takes the metrics.
	Registry prometheus.Registerer
	// Instance tells several webhooks in this process apart.
	Instance string
	// Certificate is how long certificates live, and Lookahead how long before its end one is renewed; zero values are those of
	// cert-controller, one year and 90 days.
	Certificate, Lookahead time.Duration
}

type key[T any] struct{}

// With returns a context in which a program is made with these seams.
func With[T Healer | Webhook](ctx context.Context, seams T) context.Context {
	return context.WithValue(ctx, key[T]{}, seams)
}

// Of returns the seams of a context.
func Of[T Healer | Webhook](ctx context.Context) T {
	seams, _ := ctx.Value(key[T]{}).(T)
	return seams
}
