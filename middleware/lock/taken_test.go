package lock_test

import (
	"context"
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
						n.forget(t, "j/charge/ch_1")
						var err error
						if stolen, err = thief.Acquire(t.Context(), redlock.Key("j/charge/ch_1")); err != nil {
							return err
						}
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
