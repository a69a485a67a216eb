package queue

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"go.uber.org/goleak"

	"github.com/holdfastjobs/holdfast/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// charge is the job of these tests.
type charge struct {
	ID     string `json:"id"`
	Amount int    `json:"amount"`
}

func (charge) Kind() string    { return "payments.charge" }
func (c charge) JobID() string { return c.ID }

// bundle is a client with a queue of its own, and asynq's tools for the same.
type bundle struct {
	*Client
	redis     asynq.RedisConnOpt
	inspector *asynq.Inspector
	queue     string
}

var queues atomic.Int64

func setup(t *testing.T, redis asynq.RedisConnOpt, change ...func(*Config)) bundle {
	t.Helper()
	config := Config{Redis: redis, Queue: fmt.Sprintf("q%d", queues.Add(1)), Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	i := asynq.NewInspector(redis)
	t.Cleanup(func() { _, _ = c.Close(), i.Close() })
	return bundle{Client: c, redis: redis, inspector: i, queue: config.Queue}
}

// inProcess starts a Redis in this process that ends with the test.
func inProcess(t *testing.T) asynq.RedisClientOpt {
	t.Helper()
	fleet, err := embedded.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleet.Close() })
	return at(t, fleet.Queue())
}

func at(t *testing.T, rawURL string) asynq.RedisClientOpt {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return asynq.RedisClientOpt{Addr: u.Host}
}

// entry returns the one and only entry of the bundle's queue.
func (b bundle) entry(t *testing.T) *asynq.TaskInfo {
	t.Helper()
	var all []*asynq.TaskInfo
	for _, list := range []func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		b.inspector.ListPendingTasks, b.inspector.ListScheduledTasks, b.inspector.ListActiveTasks,
		b.inspector.ListRetryTasks, b.inspector.ListCompletedTasks, b.inspector.ListArchivedTasks,
	} {
		tasks, err := list(b.queue)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tasks...)
	}
	if len(all) != 1 {
		t.Fatalf("%d entries in %s, want 1", len(all), b.queue)
	}
	return all[0]
}

func (b bundle) must(t *testing.T, c charge, options ...Option) Info {
	t.Helper()
	info, err := b.Enqueue(t.Context(), c, options...)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// eventually polls until ok says so, for at most ten seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 10s: %s", what)
		}
	}
}
