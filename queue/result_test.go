package queue

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// ledger is records in memory. It notes which were made void.
type ledger map[string]holdfast.Record

var errLedger = errors.New("no quorum")

func (l ledger) Record(_ context.Context, key string) (holdfast.Record, bool, error) {
	if key == "j/k/broken" {
		return holdfast.Record{}, false, errLedger
	}
	r, ok := l[key]
	return r, ok && r.Token != void, nil
}

func (l ledger) Void(_ context.Context, key string, retention time.Duration) error {
	if key == "j/payments.charge/held" {
		return errLedger
	}
	if retention < time.Hour {
		return errors.New("it ends before what it takes back")
	}
	l[key] = holdfast.Record{Token: void}
	return nil
}

const void = -1

func withLedger(t *testing.T, redis asynq.RedisClientOpt, records ledger) bundle {
	return setup(t, redis, func(c *Config) { c.Records = records })
}

// inState enqueues a job and waits until a worker has brought it there. Its ID is in
// no other queue: rules share a Redis.
func (b bundle) inState(t *testing.T, state string) (id string) {
	t.Helper()
	id = state + "-" + b.queue
	b.must(t, charge{id, 1})
	eventually(t, id, func() bool {
		info, err := b.inspector.GetTaskInfo(b.queue, "payments.charge:"+id)
		return err == nil && info.State.String() == state
	})
	return id
}

func TestResultReadsTheRecordOfAJob(t *testing.T) {
	b := unreachable(t)
	if _, err := b.Result(t.Context(), "k", "ch_1"); !errors.Is(err, ErrNoRecords) {
		t.Errorf("without records: %v", err)
	}
	if _, err := b.RunAgain(t.Context(), "k", "ch_1"); !errors.Is(err, ErrNoRecords) {
		t.Errorf("without records: %v", err)
	}
	b.config.Records = ledger{"j/k/ch_1": {Token: 7, Result: []byte(`"ok"`)}}
	if r, err := b.Result(t.Context(), "k", "ch_1"); r.Token != 7 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := b.Result(t.Context(), "k", "ch_2"); err == nil || !strings.HasPrefix(err.Error(), `queue: look for "k:ch_2": `) {
		t.Errorf("no record, no queue: %v", err)
	}
	if _, err := b.RunAgain(t.Context(), "k", "ch_1"); err == nil || errors.Is(err, ErrNoEntry) {
		t.Errorf("no queue: %v", err)
	}
	if _, err := b.Result(t.Context(), "k", "broken"); !errors.Is(err, errLedger) || !strings.HasPrefix(err.Error(), `queue: read record "j/k/broken": `) {
		t.Errorf("broken: %v", err)
	}
	_, err := b.Result(t.Context(), "K", "id")
	refused(t, err, "Kind")
	_, err = b.RunAgain(t.Context(), "k", "")
	refused(t, err, "JobID")
}

func noResult(t *testing.T, redis asynq.RedisClientOpt) {
	b := withLedger(t, redis, ledger{})
	b.serve(t)
	if _, err := b.Result(t.Context(), "payments.charge", "never"); !errors.Is(err, ErrUnknownJob) {
		t.Error(err)
	}
	for in, state := range map[string]State{"active": Running, "retry": Waiting, "archived": Archived} {
		id := b.inState(t, in)
		_, err := b.Result(t.Context(), "payments.charge", id)
		there, ok := errors.AsType[*NotDoneError](err)
		if !ok || !errors.Is(err, ErrNotDone) || there.State != state || there.Queue != b.queue || there.ID != id {
			t.Errorf("%s: %v", id, err)
		}
	}
	id := b.inState(t, "completed")
	if _, err := b.Result(t.Context(), "payments.charge", id); !errors.Is(err, ErrRecordEnded) {
		t.Error(err)
	}
	// Done in one queue, it waits in another: what is still to come counts.
	b.must(t, charge{id, 1}, On(b.queue+"-idle"))
	_, err := b.Result(t.Context(), "payments.charge", id)
	if there, ok := errors.AsType[*NotDoneError](err); !ok || there.State != Waiting || there.Queue != b.queue+"-idle" {
		t.Error(err)
	}
}

func onlyFinishedAgain(t *testing.T, redis asynq.RedisClientOpt) {
	records := ledger{}
	b := withLedger(t, redis, records)
	scheduled := b.must(t, charge{"scheduled-" + b.queue, 1}, Delay(time.Hour)).ID
	b.serve(t)
	for _, id := range []string{scheduled, b.inState(t, "active"), b.inState(t, "retry")} {
		if _, err := b.RunAgain(t.Context(), "payments.charge", id); !errors.Is(err, ErrNotDone) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if len(records) > 0 {
		t.Errorf("made void: %v", records)
	}
	for _, state := range []string{"completed", "archived"} {
		id := b.inState(t, state)
		before, err := b.inspector.GetTaskInfo(b.queue, "payments.charge:"+id)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.inspector.PauseQueue(b.queue); err != nil {
			t.Fatal(err)
		}
		info, err := b.RunAgain(t.Context(), "payments.charge", id)
		if err != nil || info.State != Waiting || info.Queue != b.queue || records["j/payments.charge/"+id].Token != void {
			t.Errorf("%s: %+v, %v, %v", id, info, err, records)
		}
		after, err := b.inspector.GetTaskInfo(b.queue, "payments.charge:"+id)
		if err != nil || after.State != asynq.TaskStatePending || !bytes.Equal(after.Payload, before.Payload) || after.Retried != before.Retried {
			t.Errorf("%s: %+v, %v", id, after, err)
		}
		if _, err := b.RunAgain(t.Context(), "payments.charge", id); !errors.Is(err, ErrNotDone) {
			t.Errorf("%s, twice: %v", id, err)
		}
		if err := b.inspector.UnpauseQueue(b.queue); err != nil {
			t.Fatal(err)
		}
	}
}

func againWithoutEntry(t *testing.T, redis asynq.RedisClientOpt) {
	records := ledger{"j/payments.charge/old": {Token: 7}, "j/payments.charge/held": {Token: 8}}
	b := withLedger(t, redis, records)
	if _, err := b.RunAgain(t.Context(), "payments.charge", "never"); !errors.Is(err, ErrUnknownJob) || len(records) != 2 {
		t.Error(err, records)
	}
	if _, err := b.RunAgain(t.Context(), "payments.charge", "held"); !errors.Is(err, errLedger) || errors.Is(err, ErrNoEntry) {
		t.Error(err)
	}
	if _, err := b.RunAgain(t.Context(), "payments.charge", "old"); !errors.Is(err, ErrNoEntry) || records["j/payments.charge/old"].Token != void {
		t.Error(err, records)
	}
}
