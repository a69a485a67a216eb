package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

func TestNoQuorumGoesBackUncounted(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		h := &handler{}
		g := guarded(n.locker(t), h)
		n.stop(0)
		want(t, deliver(t, g, delivery("one-down", "a1")), retry.KindDone, nil)
		n.stop(1)
		want(t, deliver(t, g, delivery("two-down", "a1")), retry.KindLater, lock.ErrNoQuorum)
		if runs := h.runs.Load(); runs != 1 {
			t.Errorf("ran %d times, want once: with one node down and not with two", runs)
		}
		n.start(1) // in place: the clean-up of the try before may still be under way
		patient := guarded(n.locker(t), h, lock.InPlace(10*time.Second))
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
