// Package fleet runs workers as processes, each a copy of the program itself,
// and hears from them over pipes.
//
// A process gets its set-up as the first line of its standard input, which then
// stays open: its end says that the parent is gone, however that came about. On
// standard output it reports, one JSON object a line.
package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// roleEnv makes a start of the program a start as a worker process.
const roleEnv = "HOLDFAST_EXAMPLE_WORKER"

// orphanGrace is how long a worker may take to end once its parent is gone.
const orphanGrace = 3 * time.Second

// Counts are named counts since the start of a process.
type Counts map[string]int64

// setupLine is the first line of standard input.
type setupLine struct {
	Folder string          `json:"folder"` // removed by a process that outlives its parent; "" is none
	Setup  json.RawMessage `json:"setup"`  // as given to [Start]
}

// reportLine is a line of standard output.
type reportLine struct {
	Ready  bool   `json:"ready,omitempty"`
	Counts Counts `json:"counts,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// IsWorker says that this process was started by [Start] and is to call [Serve].
func IsWorker() bool { return os.Getenv(roleEnv) != "" }

// Reporter reports to the parent. It is safe for concurrent use. A report that
// cannot be written is lost: then the parent is gone.
type Reporter struct {
	mu  sync.Mutex
	out *json.Encoder
}

// Ready says that the worker is about to take jobs.
func (r *Reporter) Ready() { r.write(reportLine{Ready: true}) }

// Count replaces the counts reported before.
func (r *Reporter) Count(c Counts) { r.write(reportLine{Counts: c}) }

func (r *Reporter) write(l reportLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(l)
}

// Serve is the life of a worker process. It runs serve until that returns, and
// returns the exit code. The context of serve ends at SIGTERM and when the
// parent is gone; in the second case the process ends within three seconds,
// whatever serve does. A terminal's own signals are left to the parent.
func Serve(serve func(ctx context.Context, setup []byte, r *Reporter) error) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	report := &Reporter{out: json.NewEncoder(os.Stdout)}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	var setup setupLine
	if err := errors.Join(err, json.Unmarshal(line, &setup)); err != nil {
		report.write(reportLine{Failed: fmt.Sprintf("fleet: read set-up: %v", err)})
		return 1
	}
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // nothing more is sent: this waits for the end
		close(orphaned)
		cancel()
		time.AfterFunc(orphanGrace, func() {
			tidy(setup.Folder)
			os.Exit(1)
		})
	}()

	err = serve(ctx, setup.Setup, report)
	select {
	case <-orphaned:
		tidy(setup.Folder)
	default:
	}
	if err != nil {
		report.write(reportLine{Failed: err.Error()})
		return 1
	}
	return 0
}

func tidy(folder string) {
	if folder != "" {
		_ = os.RemoveAll(folder) // several processes may do this at once
	}
}
