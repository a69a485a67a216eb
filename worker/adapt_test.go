package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// asynqServer is a server as a fleet has it, with handlers of its own, until the test
// ends.
func (b *bundle) asynqServer(cfg asynq.Config, mux *asynq.ServeMux) {
	b.t.Helper()
	cfg.Concurrency, cfg.LogLevel, cfg.ShutdownTimeout = 4, asynq.FatalLevel, 10*time.Second
	cfg.TaskCheckInterval, cfg.DelayedTaskCheckInterval = b.pace, b.pace
	server := asynq.NewServer(b.redis, cfg)
	if err := server.Start(mux); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(server.Shutdown)
}

// plain enqueues as a producer does that knows nothing of us.
func (b *bundle) plain(kind string, options ...asynq.Option) string {
	b.t.Helper()
	info, err := b.client.Enqueue(asynq.NewTask(kind, []byte("not json")), append(options, asynq.Retention(time.Hour))...)
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// hearing is an ErrorHandler that keeps what it hears.
type hearing struct {
	mu   sync.Mutex
	errs []error
}

func (h *hearing) HandleError(_ context.Context, _ *asynq.Task, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errs = append(h.errs, err)
}

func (h *hearing) all() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.errs
}

// soon is a RetryDelayFunc of a fleet's own.
func soon(int, error, *asynq.Task) time.Duration { return time.Second }

func TestAnAdaptedServerPutsContentionBackUncountedAndUnheard(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var heard hearing
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt(contend(2)))
		mux.HandleFunc("email:deliver", func(ctx context.Context, _ *asynq.Task) error {
			job, _ := holdfast.JobFrom(ctx)
			if !job.Foreign || job.Kind != "email:deliver" || job.Attempt != 1 {
				t.Errorf("%+v", job)
			}
			return holdfast.SetResult(ctx, "sent")
		})
		id := b.plain("email:deliver", asynq.MaxRetry(1))
		b.asynqServer(worker.Policy(asynq.Config{RetryDelayFunc: soon, ErrorHandler: &heard}), mux)
		info := b.until(id, asynq.TaskStateCompleted)
		if info.Retried != 0 || string(info.Result) != `"sent"` || len(heard.all()) != 0 {
			t.Errorf("retried %d, result %s, heard %v", info.Retried, info.Result, heard.all())
		}
	})
}

// The control of the test above: the same server without Policy, and asynq counts.
func TestWithoutPolicyAsynqCountsContention(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var heard hearing
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt(contend(2)))
		mux.HandleFunc("email:deliver", func(context.Context, *asynq.Task) error { return nil })
		id := b.plain("email:deliver", asynq.MaxRetry(1))
		b.asynqServer(asynq.Config{RetryDelayFunc: soon, ErrorHandler: &heard}, mux)
		if info := b.until(id, asynq.TaskStateArchived); info.Retried != 1 || info.LastErr != errHeld.Error() || len(heard.all()) != 2 {
			t.Errorf("retried %d for %q, heard %v", info.Retried, info.LastErr, heard.all())
		}
	})
}

func TestAnAdaptedServerLeavesAFleetItsOwnErrors(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		declined, transient := errors.New("declined"), errors.New("transient")
		answers := map[string][]error{
			"plain":  {declined, nil},
			"exempt": {transient, transient, transient, nil},
			"after":  {retry.After(declined, 0), nil},
			"never":  {fmt.Errorf("wrapped: %w", retry.Never(declined))},
			"skip":   {asynq.SkipRetry},
			"revoke": {asynq.RevokeTask},
			"panic":  {nil, nil},
		}
		var mu sync.Mutex
		var heard hearing
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt())
		for kind := range answers {
			mux.HandleFunc(kind, func(context.Context, *asynq.Task) error {
				mu.Lock()
				defer mu.Unlock()
				next := answers[kind][0]
				answers[kind] = answers[kind][1:]
				if kind == "panic" && len(answers[kind]) == 1 {
					panic(declined)
				}
				return next
			})
		}
		ids := make(map[string]string)
		for kind := range answers {
			ids[kind] = b.plain(kind, asynq.MaxRetry(2))
		}
		b.asynqServer(worker.Policy(asynq.Config{
			RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
			IsFailure:      func(err error) bool { return !errors.Is(err, transient) },
			ErrorHandler:   &heard,
		}), mux)
		for kind, want := range map[string]struct {
			state   asynq.TaskState
			retried int
		}{
			"plain":  {asynq.TaskStateCompleted, 1},
			"exempt": {asynq.TaskStateCompleted, 0},
			"after":  {asynq.TaskStateCompleted, 1},
			"never":  {asynq.TaskStateArchived, 0},
			"skip":   {asynq.TaskStateArchived, 0},
			"panic":  {asynq.TaskStateCompleted, 1},
		} {
			if info := b.until(ids[kind], want.state); info.Retried != want.retried {
				t.Errorf("%s: retried %d", kind, info.Retried)
			}
		}
		b.eventually(func() bool {
			_, err := b.inspector.GetTaskInfo("default", ids["revoke"])
			return errors.Is(err, asynq.ErrTaskNotFound)
		}, func() any { return "the revoked task is still there" })
		skipped := 0
		for _, err := range heard.all() {
			if !errors.Is(err, declined) && !errors.Is(err, transient) && !errors.Is(err, asynq.RevokeTask) && err != asynq.SkipRetry {
				t.Errorf("heard %v", err)
			}
			if errors.Is(err, asynq.SkipRetry) {
				skipped++
			}
		}
		if skipped != 2 || len(heard.all()) != 9 { // one each, and three that are exempt
			t.Errorf("heard %d archives of %v", skipped, heard.all())
		}
	})
}

// Jobs of package queue that meet an adapted server have their own limits there.
func TestAnAdaptedServerKeepsTheBudgetOfOurJobs(t *testing.T) {
	onEach(t, func(t *testing.T, b *bundle) {
		var heard hearing
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt())
		mux.HandleFunc("payments.charge", func(ctx context.Context, _ *asynq.Task) error {
			if job, _ := holdfast.JobFrom(ctx); job.Foreign || job.ID != "ch_1" {
				t.Errorf("%+v", job)
			}
			<-ctx.Done()
			return ctx.Err()
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 2, Timeout: 20 * time.Millisecond})
		b.asynqServer(worker.Policy(asynq.Config{RetryDelayFunc: soon, ErrorHandler: &heard}), mux)
		info := b.until(id, asynq.TaskStateArchived)
		all := heard.all()
		if info.Retried != 1 || len(all) != 2 || !errors.Is(all[1], worker.ErrTimeout) || !errors.Is(all[1], asynq.SkipRetry) {
			t.Errorf("retried %d, heard %v", info.Retried, all)
		}
	})
}

// A mux makes its chain anew for each task; what a middleware keeps must not begin
// anew with it.
func TestAdaptMakesItsMiddlewaresOnce(t *testing.T) {
	t.Parallel()
	made := 0
	count := func(_ holdfast.Route, next holdfast.Handler) holdfast.Handler { made++; return next }
	mux := asynq.NewServeMux()
	mux.Use(worker.Adapt(count))
	seen := ""
	mux.HandleFunc("a", func(context.Context, *asynq.Task) error { seen += "a"; return nil })
	mux.HandleFunc("b", func(context.Context, *asynq.Task) error { seen += "b"; return nil })
	for _, kind := range []string{"a", "b", "a"} {
		if err := mux.ProcessTask(t.Context(), asynq.NewTask(kind, nil)); err != nil {
			t.Error(err)
		}
	}
	if made != 1 || seen != "aba" {
		t.Errorf("made %d times; %s ran", made, seen)
	}
	defer func() {
		if v := fmt.Sprint(recover()); !strings.Contains(v, "middleware 1") {
			t.Errorf("a nil middleware: %s", v)
		}
	}()
	worker.Adapt(nil)
}
