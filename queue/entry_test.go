package queue

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

func entryCarriesOptions(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	deadline := time.Now().Add(time.Hour).Round(0)
	info := b.must(t, charge{"ch_1", 500}, Timeout(90*time.Second), Retention(1500*time.Millisecond), MaxAttempts(3), Deadline(deadline))
	if want := (Info{ID: "ch_1", Kind: "payments.charge", Queue: b.queue, TaskID: "payments.charge:ch_1", State: Waiting, NextRun: info.NextRun}); info != want {
		t.Errorf("info %+v, want %+v", info, want)
	}
	e := b.entry(t)
	if e.ID != info.TaskID || e.Type != info.Kind || string(e.Payload) != `{"id":"ch_1","amount":500}` {
		t.Errorf("entry %s of %s: %s", e.ID, e.Type, e.Payload)
	}
	if e.Timeout != 180*time.Second || e.MaxRetry != 5 || e.Retention != 2*time.Second || !e.Deadline.IsZero() {
		t.Errorf("asynq got timeout %v, retries %d, retention %v, deadline %v", e.Timeout, e.MaxRetry, e.Retention, e.Deadline)
	}
	got, ours, err := holdfast.ReadEnvelope(e.Headers)
	if err != nil || !ours || got.Nonce == "" || time.Since(got.EnqueuedAt) > time.Minute {
		t.Errorf("envelope %+v, %v, %v", got, ours, err)
	}
	want := holdfast.Envelope{
		JobID: "ch_1", Hash: holdfast.PayloadHash(e.Payload), Timeout: 90 * time.Second, Deadline: deadline.UTC(), MaxAttempts: 3,
		Nonce: got.Nonce, EnqueuedAt: got.EnqueuedAt,
	}
	if got != want {
		t.Errorf("envelope %+v, want %+v", got, want)
	}
}

func delayedNeverEarly(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	due := time.Now().Add(1001 * time.Millisecond)
	info := b.must(t, charge{ID: "ch_1"}, Delay(1001*time.Millisecond))
	e := b.entry(t)
	if e.State != asynq.TaskStateScheduled || e.NextProcessAt.Before(due) || e.NextProcessAt.After(due.Add(2*time.Second)) {
		t.Errorf("entry %v, due %v, want scheduled and not before %v", e.State, e.NextProcessAt, due)
	}
	if !info.NextRun.Equal(e.NextProcessAt) {
		t.Errorf("info says %v, the entry %v", info.NextRun, e.NextProcessAt)
	}
}

func freshIDs(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	one, two := b.must(t, charge{}), b.must(t, charge{})
	if one.ID == two.ID || one.TaskID != "payments.charge:"+one.ID {
		t.Errorf("%+v and %+v", one, two)
	}
}

func oneOfMany(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	const many = 40
	errs := make([]error, many)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Enqueue(t.Context(), charge{"ch_1", 500}) })
	}
	wg.Wait()
	queued := 0
	for _, err := range errs {
		switch {
		case err == nil:
			queued++
		case !errors.Is(err, ErrDuplicate):
			t.Error(err)
		}
	}
	if queued != 1 {
		t.Errorf("%d of %d were queued, want 1", queued, many)
	}
	b.entry(t)
}
