// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// The kubelet that kwok plays is steered by these.
const (
	kubeletLabel   = "kubelet.fleetwright.test/state" // on a Node
	kubeletRunning = "running"
	kubeletSilent  = "silent"

	behaviourAnnotation = "kubelet.fleetwright.test/behaviour" // on a Pod
	stuckAnnotation     = "kubelet.fleetwright.test/stuck"     // on a Pod
	clockAnnotation     = "kubelet.fleetwright.test/clock"     // on a Pod: how far its kubelet's clock is ahead
)

// Behaviour is what becomes of a Pod on a node. A Pod behaves as the verbs of
// World tell it to, else as an element of its first image's path says
// (registry.test/missing/celld:1), else it gets Ready, but for Pods of the
// project's own programs: whoever runs them tells.
type Behaviour string

// The behaviours.
const (
	Ready         Behaviour = "ready"
	Unready       Behaviour = "unready"       // runs, but fails its readiness probe
	Gated         Behaviour = "gated"         // runs and passes its probe, but a readiness gate is not ready
	Crashing      Behaviour = "crashing"      // CrashLoopBackOff
	Missing       Behaviour = "missing"       // ImagePullBackOff
	Misconfigured Behaviour = "misconfigured" // CreateContainerConfigError
)

// stage is what one behaviour looks like in a Pod's status.
type stage struct {
	Behaviour Behaviour
	Phase     string // empty: as it was
	Ready     bool   // the container
	Gate      bool   // and yet the Pod is not
	Message   string // of the Ready condition
	Started   bool
	Waiting   string // reason; empty: the container runs
	Crashed   bool   // and has a last state
}

// PodReady is the status of the Pod's condition Ready.
func (s stage) PodReady() bool { return s.Ready && !s.Gate }

var stages = []stage{
	{Behaviour: Ready, Phase: "Running", Ready: true, Started: true},
	{Behaviour: Unready, Phase: "Running", Message: "readiness probe failed", Started: true},
	{Behaviour: Gated, Phase: "Running", Ready: true, Gate: true, Started: true,
		Message: "corresponding condition of pod readiness gate 'example.com/balanced' does not exist."},
	{Behaviour: Crashing, Phase: "Running", Message: "the container crashes", Waiting: "CrashLoopBackOff", Crashed: true},
	{Behaviour: Missing, Message: "the image is missing", Waiting: "ImagePullBackOff"},
	{Behaviour: Misconfigured, Message: "a Secret is missing", Waiting: "CreateContainerConfigError"},
}

// kubeletStages renders kwok's configuration. The delimiters differ from those
// of the templates that it holds, which are kwok's to run.
func kubeletStages() ([]byte, error) {
	text, err := configFiles.ReadFile("config/stages.yaml.tmpl")
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("stages").Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("kwok's stages: %w", err)
	}
	names := make([]string, len(stages))
	for i, stage := range stages {
		names[i] = string(stage.Behaviour)
	}
	data := struct {
		Stages []stage
		Names  string // as alternatives of a regular expression
	}{stages, strings.Join(names, "|")}
	var rendered bytes.Buffer
	if err := parsed.Execute(&rendered, data); err != nil {
		return nil, fmt.Errorf("kwok's stages: %w", err)
	}
	return rendered.Bytes(), nil
}
