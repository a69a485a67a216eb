package holdfasttest

import (
	"context"
	"errors"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
)

// TB is what a fleet needs of a *testing.T.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any) // it does not return
}

// Fleet is servers, and a process that uses them. It ends with its test. Its methods
// are for the test's own goroutine, since they may end it.
type Fleet struct {
	Nodes  *embedded.Fleet // the queue's Redis, for further clients and workers, and three lock nodes, to stop and restart
	Locker *redlock.Locker
	Jobs   *queue.Client // with the locker's records

	t TB
}

// Start starts a fleet, or ends the test.
func Start(t TB) *Fleet {
	t.Helper()
	f := &Fleet{t: t}
	var err error
	if f.Nodes, err = embedded.Start(3); err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	t.Cleanup(func() { _ = f.Nodes.Close() })
	f.Locker, err = redlock.New(redlock.Config{
		Nodes: redlock.URLs(f.Nodes.Locks()...), Ungated: true,
		NodeTimeout: 200 * time.Millisecond, // the machine may be busy with other tests
	})
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	t.Cleanup(func() { f.closed("locker", f.Locker.Close()) })
	if f.Jobs, err = queue.New(queue.Config{Redis: f.Nodes, Records: f.Locker}); err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	t.Cleanup(func() { f.closed("queue client", f.Jobs.Close()) })
	return f
}

func (f *Fleet) closed(what string, err error) {
	if err != nil {
		f.t.Errorf("holdfasttest: close %s: %v", what, err)
	}
}

// Enqueue puts a job on its queue, or ends the test.
func (f *Fleet) Enqueue(args holdfast.Args, options ...queue.Option) queue.Info {
	f.t.Helper()
	info, err := f.Jobs.Enqueue(context.Background(), args, options...)
	if err != nil {
		f.t.Fatalf("holdfasttest: %v", err)
	}
	return info
}

// patience is how long Result waits.
const patience = 30 * time.Second

// Result waits, for up to 30 s, until a job that was enqueued is done under a lock, and
// returns its record. It ends the test when the time is over, and at once when the job
// is archived, unknown, or done without a record.
func (f *Fleet) Result(kind, id string) holdfast.Record {
	f.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		record, err := f.Jobs.Result(context.Background(), kind, id)
		if err == nil {
			return record
		}
		there, notDone := errors.AsType[*queue.NotDoneError](err)
		if notDone && there.State == queue.Archived || errors.Is(err, queue.ErrUnknownJob) || errors.Is(err, queue.ErrRecordEnded) {
			f.t.Fatalf("holdfasttest: %v", err)
		}
		select {
		case <-tick.C:
		case <-over.C:
			f.t.Fatalf("holdfasttest: no result after %v: %v", patience, err)
		}
	}
}
