// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/internal/seams"
)

// RunOptions are what the program is told. The zero value, with a Policy, looks after all namespaces and listens nowhere.
type RunOptions struct {
	Options

	Policy     rules.Policy
	Namespaces []string // none means all
	// LeaderElect makes one of several healers work; the others stand by.
	LeaderElect bool
	// LeaderElectionNamespace holds the Lease. Default: the namespace that the program runs in.
	LeaderElectionNamespace string
	MetricsAddress          string // "0" or empty for none
	ProbeAddress            string // "0" or empty for none
	Version                 string
	Logger                  logr.Logger
}

const (
	leaseName = "fleetwright-healer"
	// requestsPerSecond and burst are the client's own limits; the API server has its own, in priority and fairness. One
	// member's fault costs some ten requests, so this is a zone of a hundred members in ten seconds.
	requestsPerSecond = 100
	burst             = 200
	// gracePeriod is how long a stop waits for an action in progress; see actionTimeout.
	gracePeriod = 25 * time.Second
	syncTimeout = time.Second
	// awaitEvery is how often namespaces are tried that the healer has no rights in.
	awaitEvery = 30 * time.Second
)

// Validate returns what is wrong with the options.
func (o *RunOptions) Validate() error {
	if o.Policy.ReplacementDelay < rules.MinReplacementDelay {
		return fmt.Errorf("--member-replacement-delay %s is less than %s: a member would lose its disk at every reboot of a node",
			o.Policy.ReplacementDelay, rules.MinReplacementDelay)
	}
	if o.Policy.MaxReplacements < 0 {
		return fmt.Errorf("--max-replacements %d is less than 0: use 0 for the default, or pause the fleets whose disks are to be kept", o.Policy.MaxReplacements)
	}
	if o.Concurrency < 0 {
		return fmt.Errorf("--concurrency %d is less than 1", o.Concurrency)
	}
	return nil
}

// NewManager returns a manager that runs a healer once it is started.
func NewManager(ctx context.Context, config *rest.Config, o RunOptions) (manager.Manager, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, burst
	skew := &Skew{}
	config.Wrap(skew.Wrap)
	config.UserAgent = FieldManager + "/" + cmp.Or(o.Version, "unknown")
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	namespaces, left, err := readable(ctx, direct, o.Namespaces)
	if err != nil {
		return nil, err
	}
	await := &awaiter{releaser: releaser{direct, direct}, namespaces: left, every: awaitEvery}
	if len(left) > 0 && len(namespaces) == 0 {
		return nil, await.alone(ctx) // caches of no namespaces would be caches of all
	}
	caches, err := CacheOptions(namespaces)
	if err != nil {
		return nil, err
	}
	mgr, err := manager.New(config, manager.Options{
		Scheme: scheme, Logger: o.Logger, Cache: caches,
		Metrics:                       metricsserver.Options{BindAddress: cmp.Or(o.MetricsAddress, "0")},
		HealthProbeBindAddress:        cmp.Or(o.ProbeAddress, "0"),
		LeaderElection:                o.LeaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(gracePeriod),
	})
	if err != nil {
		return nil, err
	}
	if err := addProbes(mgr); err != nil {
		return nil, err
	}
	if len(left) > 0 {
		o.Logger.Info("fleets of these namespaces are left alone until the healer has rights in them", "namespaces", left)
		if err := mgr.Add(await); err != nil {
			return nil, err
		}
	}
	h, err := o.healer(mgr, seams.Of[seams.Healer](ctx))
	if err != nil {
		return nil, err
	}
	h.Skew = skew
	return mgr, h.Setup(ctx, mgr, o.Options)
}

// healer makes the healer of a manager.
func (o *RunOptions) healer(mgr manager.Manager, seam seams.Healer) (*Healer, error) {
	h := &Healer{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(FieldManager),
		Clock: seam.Clock, Policy: o.Policy,
	}
	if h.Clock == nil {
		h.Clock = clock.RealClock{}
	}
	if seam.Registry == nil {
		seam.Registry = metrics.Registry
	}
	h.Metrics = NewMetrics(seam.Registry, o.Version)
	if seam.Client == nil {
		return h, nil
	}
	options := client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}
	live, err := client.NewWithWatch(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	options.Cache = &client.CacheOptions{Reader: mgr.GetCache()}
	cached, err := client.NewWithWatch(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	h.Client, h.Live = seam.Client(cached), seam.Client(live)
	return h, nil
}

// addProbes makes the program alive when it answers, and ready when its caches are filled: a healer that stands by is ready.
func addProbes(mgr manager.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("caches", func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), syncTimeout)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches are not filled yet")
		}
		return nil
	})
}
