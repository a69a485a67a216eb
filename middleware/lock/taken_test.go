package lock_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

// forget makes every node forget who holds key, as a wiped node would.
func (n nodes) forget(t *testing.T, key string) {
	t.Helper()
	for _, url := range n.urls {
		options, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		node := redis.NewClient(options)
		if err := node.Del(t.Context(), "holdfast:lock:"+key).Err(); err != nil {
			t.Error(err)
		}
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	}
}

// steal takes a key that another holds. The holder sets its grants again where they
// are forgotten, so it may take more than once.
func (n nodes) steal(t *testing.T, thief *redlock.Locker, key string) *redlock.Lease {
	t.Helper()
	for {
		n.forget(t, key)
		lease, err := thief.TryAcquire(t.Context(), redlock.Key(key))
		if err == nil {
			return lease
		}
		if !errors.Is(err, redlock.ErrHeld) && !errors.Is(err, redlock.ErrNoQuorum) {
			t.Error(err)
			return nil
		}
	}
}

// The lock is another's by the time the handler returns, and that one is at work:
// no answer of the first may touch the queue's entry, nor the other's lock.
func TestAnAttemptWhoseLockWasTakenAnswersLater(t *testing.T) {
	for name, returned := range map[string]error{"nil": nil, "never": retry.Never(errDeclined), "error": errDeclined} {
		for owner, foreign := range map[string]bool{"ours": false, "foreign": true} {
			t.Run(name+"/"+owner, func(t *testing.T) {
				onEachKind(t, func(t *testing.T, n nodes) {
					thief := n.locker(t)
					var stolen *redlock.Lease
					h := &handler{do: func(ctx context.Context) error {
						stolen = n.steal(t, thief, "j/charge/ch_1")
						return returned // before the next extension tells
					}}
					job := delivery("ch_1", "a1")
					job.Foreign = foreign
					reason := lock.ErrLost
					if returned == nil {
						reason = lock.ErrNotRecorded
					}
					want(t, deliver(t, guarded(n.locker(t), h), job), retry.KindLater, reason)
					if err := stolen.Check(t.Context()); err != nil {
						t.Errorf("the other's lock: %v", err)
					}
				})
			})
		}
	}
}
