package lock_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

func TestNoQuorumGoesBackUncounted(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		h := &handler{}
		l := n.locker(t)
		g := guarded(l, h, impatient)
		n.stop(0)
		want(t, deliver(t, guarded(l, h), delivery("one-down", "a1")), retry.KindDone, nil)
		n.stop(1)
		want(t, deliverOnce(t, g, delivery("two-down", "a1")), retry.KindLater, lock.ErrNoQuorum)
		if runs := h.runs.Load(); runs != 1 {
			t.Errorf("ran %d times, want once: with one node down and not with two", runs)
		}
		n.start(1) // in place: the clean-up of the try before may still be under way
		patient := guarded(n.locker(t), h, lock.InPlace(5*time.Second))
		want(t, deliver(t, patient, delivery("two-down", "a1")), retry.KindDone, nil)
	})
}

// Whatever a handler returns whose lock is lost, its verdict does not stand: a
// newer attempt may own the queue's entry, and archiving it would end that one.
func TestALostAttemptAnswersLaterWhateverItReturns(t *testing.T) {
	for name, returned := range map[string]error{"nil": nil, "never": retry.Never(errDeclined), "error": errDeclined} {
		t.Run(name, func(t *testing.T) {
			onEachKind(t, func(t *testing.T, n nodes) {
				var cause error
				h := &handler{do: func(ctx context.Context) error {
					n.stop(0)
					n.stop(1)
					<-ctx.Done()
					cause = context.Cause(ctx)
					return returned
				}}
				reason := lock.ErrLost
				if returned == nil {
					reason = lock.ErrNotRecorded
				}
				err := deliver(t, guarded(n.locker(t), h), delivery("ch_1", "a1"))
				want(t, err, retry.KindLater, reason)
				if !errors.Is(cause, redlock.ErrLost) {
					t.Errorf("the handler's context ended with %v", cause)
				}
			})
		})
	}
}

// The control of the test above: with the lock held, the same verdicts stand.
func TestAnAttemptThatHoldsItsLockDecides(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		for _, returned := range []error{retry.Never(errDeclined), errDeclined, nil} {
			h := guarded(l, &handler{do: func(context.Context) error { return returned }})
			want(t, deliver(t, h, delivery("ch_1", "a1")), retry.Of(returned).Kind, returned)
		}
	})
}

func TestAnOutageIsLoggedWhenItBeginsAndWhenItEnds(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		var said lines
		cfg := n.config()
		cfg.Logger = slog.New(slog.NewTextHandler(&said, nil))
		l, err := redlock.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := guarded(l, &handler{}, lock.InPlace(time.Second))
		n.stop(0)
		n.stop(1)
		for range 3 {
			want(t, deliverOnce(t, g, delivery("ch_1", "a1")), retry.KindLater, lock.ErrNoQuorum)
		}
		n.start(0)
		n.start(1)
		eventually(t, "the job is done", func() bool { return deliver(t, g, delivery("ch_1", "a1")) == nil })
		for message, times := range map[string]int{"no quorum of lock nodes, jobs wait": 1, "a quorum of lock nodes is back": 1} {
			if got := said.count(message); got != times {
				t.Errorf("%q was logged %d times, want %d", message, got, times)
			}
		}
	})
}

// lines is a log that may be written to and read at once.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) count(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), message)
}
