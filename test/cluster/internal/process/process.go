// SPDX-License-Identifier: Apache-2.0

// Package process runs the programs of a test control plane so that none of
// them can outlive the test.
//
// Every program holds the reading end of a pipe, its lifeline. The writing end
// is here, with close-on-exec, so the kernel closes it when this process ends
// for whatever reason, and the program ends itself at that moment. That needs
// no supervisor and works where a parent-death signal does not (it follows the
// thread, not the process, that started the child).
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// LifelineEnv tells the program which file descriptor its lifeline is.
const LifelineEnv = "FLEETWRIGHT_LIFELINE_FD"

// ScratchEnv names a directory that the program removes when its lifeline
// ends: nobody else is left to do it then.
const ScratchEnv = "FLEETWRIGHT_LIFELINE_SCRATCH"

// Spec says what to run.
type Spec struct {
	Name string   // for messages
	Path string   // of the binary
	Args []string // without the binary's name
	Dir  string   // working directory
	Log  string   // file that stdout and stderr are appended to

	Scratch  string // removed by the program itself when this process dies
	Detached bool   // let it outlive this process: no lifeline, its own session
}

// Process is a program that runs, or ran.
type Process struct {
	spec     Spec
	cmd      *exec.Cmd
	lifeline *os.File
	done     chan struct{} // closed once cmd has been waited for
}

// Start runs the program.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }()

	p := &Process{spec: spec, cmd: exec.Command(spec.Path, spec.Args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = spec.Dir, log, log
	p.cmd.Env = append(os.Environ(), ScratchEnv+"="+spec.Scratch)
	// Its own process group: an interrupt at the terminal is for the test,
	// which then decides when the programs end.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if spec.Detached {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	} else {
		held, err := p.holdLifeline()
		if err != nil {
			return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
		}
		defer func() { _ = held.Close() }()
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", spec.Name, err), p.dropLifeline())
	}
	go p.reap()
	return p, nil
}

// holdLifeline hands the reading end to the program and returns it, to be
// closed here once the program has it.
func (p *Process) holdLifeline() (*os.File, error) {
	held, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.lifeline = lifeline
	p.cmd.ExtraFiles = []*os.File{held} // becomes descriptor 3
	p.cmd.Env = append(p.cmd.Env, LifelineEnv+"=3")
	return held, nil
}

func (p *Process) dropLifeline() error {
	if p.lifeline == nil {
		return nil
	}
	return p.lifeline.Close()
}

func (p *Process) reap() {
	_ = p.cmd.Wait() // what it was is in cmd.ProcessState
	_ = p.dropLifeline()
	close(p.done)
}

// Pid is the program's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the program as a crash would and waits until it is gone. Nothing
// that it would save on a gentler way is of use after a test.
func (p *Process) Kill(ctx context.Context) error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s: %w", p.spec.Name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ending %s (pid %d): %w", p.spec.Name, p.Pid(), ctx.Err())
	}
}

// Failure describes a program that ended by itself, with the end of its log.
// It is nil while the program runs.
func (p *Process) Failure() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended (%v); the end of %s:\n%s", p.spec.Name, p.cmd.ProcessState, p.spec.Log, tail(p.spec.Log))
	default:
		return nil
	}
}

// tail returns the last lines of a log, as far as they help a message.
func tail(path string) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	const enough = 2000
	if len(content) > enough {
		content = content[len(content)-enough:]
		if _, rest, ok := bytes.Cut(content, []byte("\n")); ok {
			content = rest
		}
	}
	return content
}
