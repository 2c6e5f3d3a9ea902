// SPDX-License-Identifier: Apache-2.0

// Command demo shows a fleet's life on the control plane of the tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/test/cluster/binaries"
	"github.com/fleetwright/fleetwright/test/cluster/demo"
	"github.com/fleetwright/fleetwright/test/cluster/demo/cast"
)

const usage = `Demo starts a real control plane on this machine, installs Fleetwright and shows a fleet's life: growth, a refused edit,
a lost disk, a dead node, deletion. It needs Go and nothing else, takes about four minutes, and leaves nothing behind.
Run it in the directory test/cluster, or as "make demo".

  go run ./cmd/demo                        # everything
  go run ./cmd/demo --quick                # a minute: the dead node is tainted, rather than left to the healer
  go run ./cmd/demo --keep                 # everything but the deletion; then it is yours until Ctrl-C
  go run ./cmd/demo --keep --until 2       # a control plane with Fleetwright installed, and no fleet
  go run ./cmd/demo --record demo.cast     # and record it, for demo-svg and asciinema

Flags:
`

// The exit codes are those of fleetwright.
const (
	exitDone  = 0
	exitUsage = 2
	exitOther = 3
)

// columns and rows of a recording.
const columns, rows = 100, 28

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout *os.File, stderr io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	var options demo.Options
	flags.BoolVar(&options.Quick, "quick", false, "taint the dead node as out of service, which saves two and a half minutes")
	flags.BoolVar(&options.Keep, "keep", false, "leave everything running at the end, without the last step, until Ctrl-C")
	flags.IntVar(&options.Until, "until", demo.Steps(), "the last `step`")
	flags.DurationVar(&options.Pause, "pause", 2*time.Second, "how long to wait after each step when somebody reads along")
	record := flags.String("record", "", "write what is shown to a `file`, in the format of asciinema")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	case flags.NArg() > 0 || options.Until < 1 || options.Until > demo.Steps():
		fmt.Fprintf(stderr, "demo: takes no arguments, and --until a step from 1 to %d; see --help\n", demo.Steps())
		return exitUsage
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the next one ends it at once; nothing outlives it

	screen, err := open(stdout, *record)
	if err != nil {
		fmt.Fprintln(stderr, "demo:", err)
		return exitOther
	}
	if screen.Size == nil {
		options.Pause = 0
	}
	switch err := show(ctx, screen, options, stderr); {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled) && options.Keep:
		return exitDone // as it was told to
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "demo: interrupted")
		return exitOther
	default:
		fmt.Fprintln(stderr, "demo:", err)
		return exitOther
	}
}

// open makes a screen of a terminal, or of whatever the output is.
func open(stdout *os.File, record string) (*demo.Screen, error) {
	fd := int(stdout.Fd())
	colored := os.Getenv("NO_COLOR") == ""
	screen := &demo.Screen{Out: stdout}
	if term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		screen.Color = colored
		screen.Size = func() (int, int) {
			columns, rows, err := term.GetSize(fd)
			if err != nil {
				return 80, 24
			}
			return columns, rows
		}
	}
	if record == "" {
		return screen, nil
	}
	file, err := os.Create(record)
	if err != nil {
		return nil, err
	}
	recorder, err := cast.NewRecorder(file, columns, rows, time.Now)
	if err != nil {
		return nil, err
	}
	screen.Out = io.MultiWriter(stdout, recorder)
	screen.Chapter = recorder.Mark
	screen.Color = colored
	screen.Size = func() (int, int) { return columns, rows }
	return screen, nil
}

// show builds what is not built yet and runs the demo.
func show(ctx context.Context, screen *demo.Screen, options demo.Options, stderr io.Writer) error {
	// Client libraries complain of every fault that the demo makes.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	if _, err := binaries.ControlPlane.Find(); errors.Is(err, binaries.ErrNotBuilt) {
		if _, err := binaries.ControlPlane.Build(ctx, stderr); err != nil { // it says how long that takes
			return err
		}
	}
	// Whatever it makes is in one place, which only a failure leaves behind.
	dir, err := os.MkdirTemp("", "fleetwright-demo-")
	if err != nil {
		return err
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}
	err = demo.Run(ctx, screen, options)
	if err == nil || errors.Is(err, context.Canceled) {
		_ = os.RemoveAll(dir)
	}
	return err
}
