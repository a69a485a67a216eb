package holdfasttest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/holdfasttest"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type mail struct{ To string }

func (mail) Kind() string    { return "mail" }
func (m mail) JobID() string { return m.To }

func TestAJobRunsOnceOnAFleetOfOneLine(t *testing.T) {
	t.Parallel()
	fleet := holdfasttest.Start(t)
	runs := make(chan int64, 9)
	register := func(w *worker.Worker) {
		worker.Handle(w, func(ctx context.Context, m mail) error {
			runs <- holdfast.Token(ctx)
			return holdfast.SetResult(ctx, "sent to "+m.To)
		}, lock.Middleware(fleet.Locker))
	}
	fleet.Enqueue(mail{"ada"}, queue.On("east"))
	fleet.Enqueue(mail{"ada"}, queue.On("west"))
	stopEast := fleet.Work(worker.Config{Queues: map[string]int{"east": 1}}, register)
	record := fleet.Result("mail", "ada")
	fleet.Work(worker.Config{Queues: map[string]int{"west": 1}}, register)
	stopEast()
	fleet.Nodes.StopNode(1) // one of three is nothing
	if again := fleet.Result("mail", "ada"); again.Token != record.Token || string(record.Result) != `"sent to ada"` {
		t.Errorf("%+v, then %+v", record, again)
	}
	if token := <-runs; token != record.Token || len(runs) != 0 {
		t.Errorf("ran under %d and %d times more, the record has %d", token, len(runs), record.Token)
	}
}

// stub is a test of which a fleet may make what it likes.
type stub struct {
	said  []string
	after []func()
}

func (*stub) Helper()                          {}
func (s *stub) Cleanup(f func())               { s.after = append(s.after, f) }
func (s *stub) Errorf(format string, a ...any) { s.said = append(s.said, fmt.Sprintf(format, a...)) }
func (s *stub) Fatalf(format string, a ...any) { s.Errorf(format, a...); runtime.Goexit() }
func (s *stub) cleanUp() {
	for len(s.after) > 0 {
		last := len(s.after) - 1
		s.after[last]()
		s.after = s.after[:last]
	}
}

// run does what a test does on a goroutine of its own, and returns what it said.
func (s *stub) run(test func()) string {
	ended := make(chan struct{})
	go func() { defer close(ended); test() }()
	<-ended
	s.cleanUp()
	return strings.Join(s.said, "\n")
}

func TestWhatCannotBeEndsTheTest(t *testing.T) {
	t.Parallel()
	declined := func(w *worker.Worker) {
		worker.Handle(w, func(context.Context, mail) error { return retry.Never(errors.New("declined")) })
	}
	for want, test := range map[string]func(f *holdfasttest.Fleet){
		"is not done: archived": func(f *holdfasttest.Fleet) {
			f.Enqueue(mail{"ada"})
			f.Work(worker.Config{}, declined)
			f.Result("mail", "ada")
		},
		"unknown job": func(f *holdfasttest.Fleet) { f.Result("mail", "nobody") },
		"JobID":       func(f *holdfasttest.Fleet) { f.Enqueue(mail{"a b"}) },
		"Drain":       func(f *holdfasttest.Fleet) { f.Work(worker.Config{Drain: -time.Second}, declined) },
		"no handler":  func(f *holdfasttest.Fleet) { f.Work(worker.Config{}, func(*worker.Worker) {}) },
		"done, without a record": func(f *holdfasttest.Fleet) {
			f.Enqueue(mail{"ada"})
			f.Work(worker.Config{}, func(w *worker.Worker) { worker.Handle(w, func(context.Context, mail) error { return nil }) })
			f.Result("mail", "ada")
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := &stub{}
			if got := s.run(func() { test(holdfasttest.Start(s)) }); !strings.Contains(got, want) {
				t.Errorf("said %q, want %q", got, want)
			}
		})
	}
}
