package worker

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// yield keeps an answer back for which asynq would archive the job, whatever it
// says, while a newer attempt is at it: the archive would end that one's entry,
// and the job would be lost if it died. It reports true once the entry is not
// active any more, when the answer hits nothing, and false when asynq ended the
// delivery before.
func (w *Worker) yield(ctx context.Context, job *holdfast.Job) bool {
	id, _ := asynq.GetTaskID(ctx)
	w.log(job).WarnContext(ctx, "an attempt that does not own its job any more waits for the one that does")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		info, err := w.inspector.GetTaskInfo(job.Queue, id)
		if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) || err == nil && info.State != asynq.TaskStateActive {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}
