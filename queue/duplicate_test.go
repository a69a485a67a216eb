package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
)

// serve runs an asynq server on the bundle's queue until the test ends. Jobs
// end as their ID says, up to a hyphen.
func (b bundle) serve(t *testing.T) {
	release := make(chan struct{})
	s := asynq.NewServer(b.redis, asynq.Config{
		Queues: map[string]int{b.queue: 1}, Concurrency: 8, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 10 * time.Millisecond, ShutdownTimeout: 10 * time.Second,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
	})
	err := s.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		end, _, _ := strings.Cut(task.Headers()[holdfast.HeaderJobID], "-")
		switch end {
		case "active":
			<-release
		case "retry":
			return errors.New("again")
		case "archived":
			return asynq.SkipRetry
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(release); s.Shutdown() })
}

func duplicateStates(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	b.must(t, charge{"pending", 1}, On(b.queue+"-idle"))
	b.must(t, charge{"scheduled", 1}, Delay(time.Hour))
	b.serve(t)
	for id, state := range map[string]State{
		"pending": Waiting, "scheduled": Waiting, "retry": Waiting, "active": Running, "completed": Done, "archived": Archived,
	} {
		queue := b.queue
		switch id {
		case "pending":
			queue += "-idle"
		case "retry", "active", "completed", "archived":
			b.must(t, charge{id, 1})
		}
		eventually(t, id, func() bool {
			info, err := b.inspector.GetTaskInfo(queue, "payments.charge:"+id)
			return err == nil && info.State.String() == id
		})

		_, err := b.Enqueue(t.Context(), charge{id, 1}, On(queue))
		duplicate, ok := errors.AsType[*DuplicateError](err)
		if !ok || !errors.Is(err, ErrDuplicate) || errors.Is(err, holdfast.ErrMismatch) {
			t.Errorf("%s: %v is no duplicate", id, err)
			continue
		}
		if duplicate.State != state || duplicate.ID != id || duplicate.Queue != queue || duplicate.NextRun.IsZero() == (state == Waiting) {
			t.Errorf("%s: %+v, want state %s", id, duplicate, state)
		}
		want := fmt.Sprintf("queue: enqueue %q on %q: already there, %s", "payments.charge:"+id, queue, state)
		if state == Archived {
			want += "; run it again (RunAgain) or delete it"
		}
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}

		_, err = b.Enqueue(t.Context(), charge{id, 2}, On(queue))
		mismatch, ok := errors.AsType[*MismatchError](err)
		if !ok || !errors.Is(err, holdfast.ErrMismatch) || errors.Is(err, ErrDuplicate) || mismatch.State != state {
			t.Errorf("%s: %v is no mismatch in state %s", id, err, state)
		}
	}
}

func foreignEntries(t *testing.T, redis asynq.RedisClientOpt) {
	b := setup(t, redis)
	foreign := asynq.NewClient(redis)
	t.Cleanup(func() { _ = foreign.Close() })
	put := func(kind, id string) {
		task := asynq.NewTask(kind, []byte(fmt.Sprintf(`{"id":%q,"amount":1}`, id)), asynq.TaskID("payments.charge:"+id), asynq.Queue(b.queue))
		if _, err := foreign.Enqueue(task); err != nil {
			t.Fatal(err)
		}
	}
	put("payments.charge", "same")
	put("payments.refund", "other-kind")
	if _, err := b.Enqueue(t.Context(), charge{"same", 1}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("same payload: %v", err)
	}
	if _, err := b.Enqueue(t.Context(), charge{"same", 2}); !errors.Is(err, holdfast.ErrMismatch) {
		t.Errorf("other payload: %v", err)
	}
	if _, err := b.Enqueue(t.Context(), charge{"other-kind", 1}); !errors.Is(err, holdfast.ErrMismatch) {
		t.Errorf("other kind: %v", err)
	}
}
