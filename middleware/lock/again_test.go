package lock_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/queue"
)

// result waits for ch_1 to have one.
func (f *fleet) result(t *testing.T) holdfast.Record {
	t.Helper()
	var record holdfast.Record
	eventually(t, "the job has a result", func() (done bool) {
		var err error
		record, err = f.jobs.Result(t.Context(), "charge", "ch_1")
		if err != nil && !errors.Is(err, queue.ErrNotDone) {
			t.Fatal(err)
		}
		return err == nil
	})
	return record
}

func TestTheResultIsReadByWhoeverAsksAndRunAgainMakesANewOne(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		runs := 0 // one job: never two at once
		most := bytes.Repeat([]byte{0xff, ':'}, holdfast.MaxResult/2)
		f.work(t, func(ctx context.Context, _ charge) error {
			runs++
			most[0] = byte(runs)
			if err := holdfast.SetResult(ctx, append(most, 0)); err == nil {
				t.Error("a result over 64 KiB was stored")
			}
			return holdfast.SetResult(ctx, most)
		})
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}))
		first := f.result(t)
		if len(first.Result) != holdfast.MaxResult || first.Result[0] != 1 {
			t.Errorf("%d bytes, of run %d", len(first.Result), first.Result[0])
		}
		f.done(t, 20*time.Second, "ch_1")

		// The control: asynq's own way to run a finished task again is a duplicate.
		inspector := asynq.NewInspector(f.redis)
		defer inspector.Close()
		if err := inspector.RunTask("default", "charge:ch_1"); err != nil {
			t.Fatal(err)
		}
		f.done(t, 20*time.Second, "ch_1")
		if again := f.result(t); again.Token != first.Token || again.Result[0] != 1 {
			t.Errorf("the duplicate left its mark: token %d, run %d", again.Token, again.Result[0])
		}

		if _, err := f.jobs.RunAgain(t.Context(), "charge", "ch_1"); err != nil {
			t.Fatal(err)
		}
		if again := f.result(t); again.Token <= first.Token || again.Result[0] != 2 {
			t.Errorf("token %d after %d, run %d", again.Token, first.Token, again.Result[0])
		}
		f.done(t, 20*time.Second, "ch_1")
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.runs["ch_1"] != 2 {
			t.Errorf("ran %d times", f.runs["ch_1"])
		}
	})
}

// A holder whom no entry shows, such as a stale attempt, is waited for, and not past
// the call's time.
func TestAJobDoesNotRunAgainBesideAHolder(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		f.work(t, func(context.Context, charge) error { return nil })
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}))
		f.done(t, 20*time.Second, "ch_1")
		release := hold(t, f.locker(t), "j/charge/ch_1")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := f.jobs.RunAgain(ctx, "charge", "ch_1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		release()
		if first := f.result(t); first.Token == 0 {
			t.Error("the record is gone")
		}
	})
}
