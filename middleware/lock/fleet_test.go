package lock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/internal/servers"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

// fleet is the whole road: a queue, a worker under the lock, and what became of
// each job.
type fleet struct {
	nodes
	redis asynq.RedisConnOpt
	jobs  *queue.Client

	mu   sync.Mutex
	runs map[string]int
	dead map[string]error
}

func (n nodes) fleet(t *testing.T, queueURL string) *fleet {
	t.Helper()
	redis, err := asynq.ParseRedisURI(queueURL)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{nodes: n, redis: redis, runs: map[string]int{}, dead: map[string]error{}}
	f.jobs = holdfast.Must(queue.New(queue.Config{Redis: redis, Records: n.locker(t)}))
	t.Cleanup(func() { _ = f.jobs.Close() })
	return f
}

// work starts a worker that ends with the test.
func (f *fleet) work(t *testing.T, do func(ctx context.Context, c charge) error) {
	t.Helper()
	w := holdfast.Must(worker.New(worker.Config{
		Redis: f.redis, Concurrency: 8, Drain: 5 * time.Second, Soft: time.Second,
		TaskCheckInterval: 20 * time.Millisecond, DelayedTaskCheckInterval: 100 * time.Millisecond,
		OnDead: func(_ context.Context, job *holdfast.Job, err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.dead[job.ID] = err
		},
	}))
	worker.Handle(w, func(ctx context.Context, c charge) error {
		f.mu.Lock()
		f.runs[c.ID]++
		f.mu.Unlock()
		return do(ctx, c)
	}, lock.Middleware(f.locker(t), lock.NoQuorumBackoff(retry.Constant(time.Second))))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// done waits until the queue has each job as completed.
func (f *fleet) done(t *testing.T, within time.Duration, ids ...string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	inspector := asynq.NewInspector(f.redis)
	defer inspector.Close()
	for _, id := range ids {
		for {
			if task, err := inspector.GetTaskInfo("default", "charge:"+id); err == nil && task.State == asynq.TaskStateCompleted {
				break
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("job %s is not done after %v; archived: %v", id, within, f.dead)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, err := range f.dead {
		t.Errorf("job %s was archived: %v", id, err)
	}
}

// onEachFleet is onEachKind with a queue of the same make.
func onEachFleet(t *testing.T, test func(t *testing.T, f *fleet)) {
	t.Helper()
	onEachKind(t, func(t *testing.T, n nodes) {
		if n.embedded != nil {
			test(t, n.fleet(t, n.embedded.Queue()))
			return
		}
		test(t, n.fleet(t, servers.RedisNodes(t, 1)[0].URL()))
	})
}

func TestAContendedJobWithOneAttemptIsNotArchived(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		release := hold(t, f.locker(t), "j/charge/ch_1")
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.MaxAttempts(1)))
		f.work(t, func(context.Context, charge) error { return nil })
		inspector := asynq.NewInspector(f.redis)
		defer inspector.Close()
		retries := func() bool {
			task, err := inspector.GetTaskInfo("default", "charge:ch_1")
			return err == nil && task.State == asynq.TaskStateRetry && task.Retried == 0 && task.LastErr != ""
		}
		eventually(t, "the job is in the retry set, uncounted, with a reason", retries)
		release()
		f.done(t, 20*time.Second, "ch_1")
	})
}

func TestASuccessAfterTheTimeoutOfTheLastAttemptIsDone(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: "ch_1"}, queue.MaxAttempts(1), queue.Timeout(time.Second)))
		f.work(t, func(ctx context.Context, _ charge) error {
			<-ctx.Done() // and goes on, as a driver does that cannot be interrupted
			<-time.After(500 * time.Millisecond)
			return nil
		})
		f.done(t, 20*time.Second, "ch_1")
		if runs := f.runs["ch_1"]; runs != 1 {
			t.Errorf("ran %d times", runs)
		}
	})
}

func TestJobsOutliveTheLossOfTheQuorum(t *testing.T) {
	onEachFleet(t, func(t *testing.T, f *fleet) {
		var ids []string
		for i := range 40 {
			ids = append(ids, fmt.Sprintf("ch_%d", i))
			holdfast.Must(f.jobs.Enqueue(t.Context(), charge{ID: ids[i]}, queue.MaxAttempts(1)))
		}
		f.stop(0)
		f.work(t, func(ctx context.Context, _ charge) error {
			<-time.After(20 * time.Millisecond)
			return nil
		})
		f.done(t, 20*time.Second, ids[:10]...) // one node of three is nothing
		f.stop(1)
		<-time.After(10 * time.Second)
		f.start(0)
		f.start(1)
		f.done(t, 60*time.Second, ids[10:]...)
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}
