package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// voidFor is as long as any record can live that a void one takes back. The next
// run's own record replaces it.
const voidFor = 3650 * 24 * time.Hour

// RunAgain lets a finished job run once more: an operator's act, on purpose. It
// makes the job's record void and puts its entry, done or archived, back on its
// queue, with payload, deadline and budget as they were: the next attempt has the
// number of the last one. The effects of the earlier run stay, and so do the guards
// in your own database: who wants the money to move twice has to take those back too.
//
// It refuses, by a [NotDoneError], while any queue has the job waiting or running,
// and fails when the job's lock does not get free in time. When no queue keeps an
// entry there is no payload to run: it makes the record void and answers
// [ErrNoEntry], so that an enqueue of the job is a run and no duplicate. Other
// errors: [ErrUnknownJob], [ErrNoRecords], a [holdfast.FieldError]; what Records or
// Redis said, and the cause of ctx, which leave open what was done: call it again.
func (c *Client) RunAgain(ctx context.Context, kind, id string) (Info, error) {
	if err := c.checkAsked(kind, id); err != nil {
		return Info{}, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	there, err := c.find(ctx, kind, id)
	if err != nil {
		return Info{}, err
	}
	if there == nil {
		return Info{}, c.voidRecord(ctx, kind, id)
	}
	if there.State == Running || there.State == Waiting {
		return Info{}, &NotDoneError{*there}
	}
	// The record first: an entry that ran before it is void would be skipped.
	if err := c.void(ctx, kind, id); err != nil {
		return Info{}, err
	}
	if err := c.inspector(ctx).RunTask(there.Queue, there.TaskID); err != nil {
		return Info{}, failed(ctx, fmt.Sprintf("run %q on %q again", there.TaskID, there.Queue), err)
	}
	there.State = Waiting
	c.config.Logger.WarnContext(ctx, "a finished job runs again, on purpose", "job_id", id, "kind", kind, "queue", there.Queue)
	return *there, nil
}

// voidRecord is RunAgain for a job that only the records know.
func (c *Client) voidRecord(ctx context.Context, kind, id string) error {
	_, found, err := c.record(ctx, kind, id)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: %q", ErrUnknownJob, taskID(kind, id))
	}
	if err := c.void(ctx, kind, id); err != nil {
		return err
	}
	return fmt.Errorf("%w: %q", ErrNoEntry, taskID(kind, id))
}

func (c *Client) void(ctx context.Context, kind, id string) error {
	key := holdfast.JobKey(kind, id)
	if err := c.config.Records.Void(ctx, key, voidFor); err != nil {
		return fmt.Errorf("queue: make record %q void: %w", key, err)
	}
	return nil
}
