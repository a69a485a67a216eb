package worker

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfastjobs/holdfast"
)

// lapseMost is the most that a handler gets when MaxOverrun gives it none: its
// share of the 30 s that asynq's own timeout leaves behind ours.
const lapseMost = 20 * time.Second

// overrun waits for a handler whose context has ended, and gives up one that does
// not return. outer is the context that the lock made: it ends when the lock is
// lost or given up.
func (w *Worker) overrun(outer, ctx context.Context, job *holdfast.Job, run *run) error {
	began := time.Now()
	hold, locked := holdfast.HoldFrom(outer)
	if locked && w.cfg.MaxOverrun < 0 {
		hold.Lapse()
	}
	for ended := outer.Done(); ; ended = nil {
		patience := time.NewTimer(time.Until(began.Add(w.patience(hold, time.Since(began)))))
		select {
		case err := <-run.returned:
			patience.Stop()
			return err
		case <-ended: // the lock may have been given up: look again
			patience.Stop()
			continue
		case <-patience.C:
		}
		if locked {
			hold.Leave()
		}
		w.overran(ctx, job, run, time.Since(began))
		return fmt.Errorf("%w: %w, and it still ran %s later", ErrOverrun, context.Cause(ctx), time.Since(began).Round(time.Millisecond))
	}
}

// patience is how long after the end of its context a handler is given up:
// MaxOverrun, while its lock is extended; less, if that runs out before. The
// attempt must be answered for while it owns the job, and a quarter of what is left
// is for the answer to get through. A lock that is lost has no such time any more.
func (w *Worker) patience(hold holdfast.Hold, since time.Duration) time.Duration {
	most := w.cfg.MaxOverrun
	if hold == nil {
		return max(most, 0)
	}
	left, extended := hold.Stands()
	if most < 0 {
		return min(since+left*3/4, lapseMost)
	}
	if extended || left == 0 {
		return most
	}
	return min(since+left*3/4, most)
}

// overran reports a handler that is given up, with what it is at.
func (w *Worker) overran(ctx context.Context, job *holdfast.Job, run *run, after time.Duration) {
	w.log(job).ErrorContext(ctx, "handler ignores the end of its context and is given up",
		"err", context.Cause(ctx), "after", after, "stack", stackOf(run.goroutine.Load()))
	w.meter.overruns.Add(ctx, 1, metric.WithAttributes(holdfast.AttrJobKind.String(job.Kind)))
	trace.SpanFromContext(ctx).AddEvent("overrun", trace.WithAttributes(attribute.Float64("holdfast.overrun", after.Seconds())))
}

// goroutine names the one that calls it, as stacks do: "goroutine 42".
func goroutine() *string {
	var head [32]byte
	words := bytes.Fields(head[:runtime.Stack(head[:], false)])
	name := string(bytes.Join(words[:2], []byte(" ")))
	return &name
}

// mostStacks is the most that stackOf looks through.
const mostStacks = 16 << 20

// stackOf returns the stack of a goroutine, for which all of them stand still for
// a moment; "" when it has ended.
func stackOf(goroutine *string) string {
	if goroutine == nil {
		return ""
	}
	all := make([]byte, 64<<10)
	n := runtime.Stack(all, true)
	for n == len(all) && n < mostStacks {
		all = make([]byte, 2*n)
		n = runtime.Stack(all, true)
	}
	for stack := range strings.SplitSeq(string(all[:n]), "\n\n") {
		if strings.HasPrefix(stack, *goroutine+" ") {
			return stack
		}
	}
	return ""
}
