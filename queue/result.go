package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// Result returns the completion record of a job, whichever of its deliveries did
// the work, with what its handler stored by [holdfast.SetResult]. The record is
// there before the queue hears that the job is done, and as long as lock.Retention
// says, 24 h by default.
//
// Errors: a [NotDoneError] with the state of the job's entry, in whichever queue it
// is; [ErrRecordEnded]; [ErrUnknownJob]; [ErrNoRecords]; a [holdfast.FieldError];
// what Records or Redis said; the cause of ctx.
func (c *Client) Result(ctx context.Context, kind, id string) (holdfast.Record, error) {
	if err := c.checkAsked(kind, id); err != nil {
		return holdfast.Record{}, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	record, found, err := c.record(ctx, kind, id)
	if found || err != nil {
		return record, err
	}
	there, err := c.find(ctx, kind, id)
	if err != nil {
		return holdfast.Record{}, err
	}
	// The job may have ended between the two looks. A record is older than the
	// entry that says done, so this look does not come too early.
	record, found, err = c.record(ctx, kind, id)
	switch {
	case found || err != nil:
		return record, err
	case there == nil:
		return holdfast.Record{}, fmt.Errorf("%w: %q", ErrUnknownJob, taskID(kind, id))
	case there.State == Done:
		return holdfast.Record{}, fmt.Errorf("%w: %q on %q", ErrRecordEnded, there.TaskID, there.Queue)
	}
	return holdfast.Record{}, &NotDoneError{*there}
}

// checkAsked refuses what no job can be called.
func (c *Client) checkAsked(kind, id string) error {
	if c.config.Records == nil {
		return ErrNoRecords
	}
	return cmp.Or(checkName(holdfast.CheckKind(kind)), checkName(holdfast.CheckJobID(id)))
}

func (c *Client) record(ctx context.Context, kind, id string) (holdfast.Record, bool, error) {
	key := holdfast.JobKey(kind, id)
	record, found, err := c.config.Records.Record(ctx, key)
	if err != nil {
		return holdfast.Record{}, false, fmt.Errorf("queue: read record %q: %w", key, err)
	}
	return record, found, nil
}

// find returns the job's entry, in whichever queue, and nil when there is none. Of
// several it is the one that most forbids to run the job.
func (c *Client) find(ctx context.Context, kind, id string) (*Info, error) {
	queues, err := c.inspector(ctx).Queues()
	if err != nil {
		return nil, failed(ctx, fmt.Sprintf("look for %q", taskID(kind, id)), err)
	}
	var found *Info
	states := []State{Running, Waiting, Done, Archived}
	for _, queue := range queues {
		t, err := c.inspect(ctx, queue, taskID(kind, id))
		switch {
		case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
			continue
		case err != nil:
			return nil, failed(ctx, fmt.Sprintf("look for %q on %q", taskID(kind, id), queue), err)
		case t.Type != kind:
			continue // another producer's, that happens to be called so
		}
		info := infoOf(kind, id, t)
		if found == nil || slices.Index(states, info.State) < slices.Index(states, found.State) {
			found = &info
		}
	}
	return found, nil
}
