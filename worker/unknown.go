package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
)

// unknown puts a job without handler back: in a rolling deploy, the worker that
// has one is on its way. Since when is kept in the job's own last error, so that
// the workers of a fleet, which share nothing else, agree on it.
func (w *Worker) unknown(ctx context.Context, job *holdfast.Job) error {
	now := time.Now()
	err := unknownError{job.Kind, w.unknownSince(ctx, job, now)}
	waited := now.Sub(err.since)
	if waited >= w.cfg.UnknownFor {
		return retry.Never(fmt.Errorf("%w: %q, for %s%s", ErrUnknownKind, job.Kind, waited.Round(time.Second), unfit(job.Kind)))
	}
	if w.warned.first(job.Kind) {
		w.log(job).WarnContext(ctx, "job is put back until a worker knows its kind", "err", err)
	}
	return retry.Later(err, unknownDelay(waited))
}

// unknownSince falls back to now: an unread last error starts the clock again,
// which costs time and no job.
func (w *Worker) unknownSince(ctx context.Context, job *holdfast.Job, now time.Time) time.Time {
	id, _ := asynq.GetTaskID(ctx)
	info, err := w.inspector.GetTaskInfo(job.Queue, id)
	if err != nil {
		w.log(job).WarnContext(ctx, "last error of a job could not be read", "err", err)
		return now
	}
	since, ok := parseUnknown(job.Kind, info.LastErr)
	if !ok || since.After(now) {
		return now
	}
	return since
}

// unknownDelay waits as long again as the job has waited, 1 s to 1 min.
func unknownDelay(waited time.Duration) time.Duration {
	return min(max(waited, time.Second), time.Minute)
}

// unknownError is ErrUnknownKind for a job that is put back.
type unknownError struct {
	kind  string
	since time.Time
}

func (e unknownError) Error() string {
	return unknownPrefix(e.kind) + e.since.UTC().Format(time.RFC3339) + unfit(e.kind)
}

func (e unknownError) Unwrap() error { return ErrUnknownKind }

// parseUnknown reads since back from the text of an unknownError of this kind.
func parseUnknown(kind, text string) (time.Time, bool) {
	rest, ours := strings.CutPrefix(text, unknownPrefix(kind))
	stamp, _, _ := strings.Cut(rest, ": ") // what follows is for people
	since, err := time.Parse(time.RFC3339, stamp)
	return since, ours && err == nil
}

func unknownPrefix(kind string) string { return fmt.Sprintf("%s: %q since ", ErrUnknownKind, kind) }

// unfit says of a task type that it is no kind, such as asynq's customary
// email:deliver: its producer is on the wrong queue. It is put back like any
// other all the same, as a newer release may have another rule for kinds.
func unfit(kind string) string {
	if holdfast.CheckKind(kind) == nil {
		return ""
	}
	return ": not a kind, [a-z0-9._-]{1,64}; no worker can ever register it"
}

// maxWarned is how many kinds a worker warns of. Who enqueues on the queue may
// make up kinds without end, and each one is kept.
const maxWarned = 100

// warned is the set of kinds without handler that were logged.
type warned struct {
	mu    sync.Mutex
	kinds map[string]bool
}

// first reports whether kind is to be logged now.
func (w *warned) first(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kinds[kind] || len(w.kinds) == maxWarned {
		return false
	}
	if w.kinds == nil {
		w.kinds = make(map[string]bool)
	}
	w.kinds[kind] = true
	return true
}
