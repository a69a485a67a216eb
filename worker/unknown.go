package worker

import (
	"context"
	"fmt"
	"strings"
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
	since := w.unknownSince(ctx, job, now)
	if waited := now.Sub(since); waited >= w.cfg.UnknownFor {
		return retry.Never(fmt.Errorf("%w: %q, for %s", ErrUnknownKind, job.Kind, waited.Round(time.Second)))
	}
	if _, warned := w.warned.LoadOrStore(job.Kind, true); !warned {
		w.log(job).WarnContext(ctx, "no handler for this kind, its jobs are put back")
	}
	return retry.Later(unknownError{job.Kind, since}, unknownDelay(now.Sub(since)))
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
	return unknownPrefix(e.kind) + e.since.UTC().Format(time.RFC3339)
}

func (e unknownError) Unwrap() error { return ErrUnknownKind }

// parseUnknown reads since back from the text of an unknownError of this kind.
func parseUnknown(kind, text string) (time.Time, bool) {
	stamp, ours := strings.CutPrefix(text, unknownPrefix(kind))
	since, err := time.Parse(time.RFC3339, stamp)
	return since, ours && err == nil
}

func unknownPrefix(kind string) string { return fmt.Sprintf("%s: %q since ", ErrUnknownKind, kind) }
