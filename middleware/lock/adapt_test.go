package lock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/worker"
)

// crowd is a handler that notices how many of it run at once.
type crowd struct{ now, most, runs atomic.Int32 }

// handle stays until it has company, and for 300 ms at most.
func (c *crowd) handle(ctx context.Context, _ *asynq.Task) error {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	c.runs.Add(1)
	for i := 0; i < 30 && c.now.Load() == 1; i++ {
		<-time.After(10 * time.Millisecond)
	}
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); {
		most = c.most.Load()
	}
	return ctx.Err()
}

// server is one of an asynq fleet's, on a queue of its own, until the test ends.
func (f *fleet) server(t *testing.T, queue string, cfg asynq.Config, mux *asynq.ServeMux) {
	t.Helper()
	cfg.Queues, cfg.Concurrency, cfg.LogLevel, cfg.ShutdownTimeout = map[string]int{queue: 1}, 4, asynq.FatalLevel, 10*time.Second
	cfg.TaskCheckInterval, cfg.DelayedTaskCheckInterval = 20*time.Millisecond, 100*time.Millisecond
	server := asynq.NewServer(f.redis, cfg)
	if err := server.Start(mux); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
}

// produce enqueues with plain asynq.
func (f *fleet) produce(t *testing.T, payload string, options ...asynq.Option) {
	t.Helper()
	client := asynq.NewClient(f.redis)
	defer client.Close()
	if _, err := client.Enqueue(asynq.NewTask("report:daily", []byte(payload)), append(options, asynq.Retention(time.Hour))...); err != nil {
		t.Fatal(err)
	}
}

// ended waits until a task is done or archived.
func (f *fleet) ended(t *testing.T, queue, id string) *asynq.TaskInfo {
	t.Helper()
	inspector := asynq.NewInspector(f.redis)
	defer inspector.Close()
	var task *asynq.TaskInfo
	eventually(t, id+" on "+queue+" has ended", func() bool {
		var err error
		task, err = inspector.GetTaskInfo(queue, id)
		return err == nil && (task.State == asynq.TaskStateCompleted || task.State == asynq.TaskStateArchived)
	})
	return task
}

// One task, in two queues of two servers, on its last attempt in both.
func TestTasksOfPlainAsynqRunOneAtATimeOnAdaptedServers(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var c crowd
		for _, queue := range []string{"east", "west"} {
			f.produce(t, "", asynq.TaskID("today"), asynq.Queue(queue), asynq.MaxRetry(0))
		}
		for _, queue := range []string{"east", "west"} {
			mux := asynq.NewServeMux()
			mux.Use(worker.Adapt(lock.Middleware(f.locker(t))))
			mux.HandleFunc("report:daily", c.handle)
			f.server(t, queue, worker.Policy(asynq.Config{}), mux)
		}
		for _, queue := range []string{"east", "west"} {
			if task := f.ended(t, queue, "today"); task.State != asynq.TaskStateCompleted {
				t.Errorf("%s: %v: %s", queue, task.State, task.LastErr)
			}
		}
		// Two runs: an ID of theirs that comes again is new work, and no duplicate.
		if c.most.Load() != 1 || c.runs.Load() != 2 {
			t.Errorf("%d at once, %d runs", c.most.Load(), c.runs.Load())
		}
	})
}

// The control of the test above, and what a rollout is until its last server: one that
// is not adapted knows nothing of the lock.
func TestAServerThatIsNotAdaptedRunsBesideTheOthers(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var c crowd
		for _, queue := range []string{"east", "west"} {
			f.produce(t, "", asynq.TaskID("today"), asynq.Queue(queue), asynq.MaxRetry(0))
		}
		plain := asynq.NewServeMux()
		plain.HandleFunc("report:daily", func(ctx context.Context, task *asynq.Task) error {
			eventually(t, "the adapted one runs", func() bool { return c.now.Load() > 0 })
			return c.handle(ctx, task)
		})
		f.server(t, "west", asynq.Config{}, plain)
		adapted := asynq.NewServeMux()
		adapted.Use(worker.Adapt(lock.Middleware(f.locker(t))))
		adapted.HandleFunc("report:daily", c.handle)
		f.server(t, "east", worker.Policy(asynq.Config{}), adapted)
		for _, queue := range []string{"east", "west"} {
			f.ended(t, queue, "today")
		}
		if c.most.Load() != 2 {
			t.Errorf("%d at once", c.most.Load())
		}
	})
}

func TestAlsoTakesTheTaskItselfUnderAdaptAndAnyOtherTypeIsArchived(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var c crowd
		account := lock.Also(func(task *asynq.Task) []string { return []string{"account/" + string(task.Payload())} })
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt(lock.Middleware(f.locker(t), account)))
		mux.HandleFunc("report:daily", c.handle)
		f.server(t, "default", worker.Policy(asynq.Config{}), mux)
		for _, id := range []string{"monday", "tuesday"} {
			f.produce(t, "a1", asynq.TaskID(id), asynq.MaxRetry(0))
		}
		for _, id := range []string{"monday", "tuesday"} {
			if task := f.ended(t, "default", id); task.State != asynq.TaskStateCompleted {
				t.Errorf("%s: %v: %s", id, task.State, task.LastErr)
			}
		}
		if c.most.Load() != 1 || c.runs.Load() != 2 {
			t.Errorf("%d at once, %d runs", c.most.Load(), c.runs.Load())
		}

		wrong := lock.Also(func(charge) []string { return nil })
		mux = asynq.NewServeMux()
		mux.Use(worker.Adapt(lock.Middleware(f.locker(t), wrong)))
		mux.HandleFunc("report:daily", c.handle)
		f.server(t, "other", worker.Policy(asynq.Config{}), mux)
		f.produce(t, "a1", asynq.TaskID("friday"), asynq.Queue("other"), asynq.MaxRetry(5))
		task := f.ended(t, "other", "friday")
		if why := "Also takes lock_test.charge"; task.State != asynq.TaskStateArchived || !strings.Contains(task.LastErr, why) || c.runs.Load() != 2 {
			t.Errorf("%v: %q", task.State, task.LastErr)
		}
	})
}

// The step after Adapt: the producer gives job IDs, the servers are as they were.
func TestAJobOfPackageQueueHasItsRecordOnAnAdaptedServer(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var c crowd
		mux := asynq.NewServeMux()
		mux.Use(worker.Adapt(lock.Middleware(f.locker(t))))
		mux.HandleFunc("charge", func(ctx context.Context, task *asynq.Task) error {
			return errors.Join(c.handle(ctx, task), holdfast.SetResult(ctx, "receipt 7"))
		})
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.On("east")))
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.On("west")))
		for _, queue := range []string{"east", "west"} {
			f.server(t, queue, worker.Policy(asynq.Config{}), mux)
		}
		for _, queue := range []string{"east", "west"} {
			if task := f.ended(t, queue, "charge:ch_1"); task.State != asynq.TaskStateCompleted || string(task.Result) != `"receipt 7"` {
				t.Errorf("%s: %v, result %s: %s", queue, task.State, task.Result, task.LastErr)
			}
		}
		if record := f.result(t); c.runs.Load() != 1 || string(record.Result) != `"receipt 7"` {
			t.Errorf("%d runs, result %s", c.runs.Load(), record.Result)
		}
	})
}
