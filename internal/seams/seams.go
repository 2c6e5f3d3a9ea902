// SPDX-License-Identifier: Apache-2.0

// Package seams is where tests take hold of a program that they run in their own process. Programs set none of them.
package seams

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
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
	// Several healers run in this process.
	Several bool
}

type key struct{}

// With returns a context in which a healer is made with these seams.
func With(ctx context.Context, h Healer) context.Context { return context.WithValue(ctx, key{}, h) }

// Of returns the seams of a context.
func Of(ctx context.Context) Healer {
	h, _ := ctx.Value(key{}).(Healer)
	return h
}
