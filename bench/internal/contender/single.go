package contender

import (
	"context"

	"github.com/bsm/redislock"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfastjobs/holdfast/bench/internal/measure"
)

// Redislock is bsm/redislock, which knows one node only.
func Redislock(_ context.Context, addrs []string) (measure.Lock, error) {
	client := newClient(addrs[0])
	locker := redislock.New(client)
	cycle := func(ctx context.Context, key string) error {
		l, err := locker.Obtain(ctx, key, TTL, nil)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
	return measure.Lock{Name: "redislock", Cycle: cycle, Close: client.Close}, nil
}

// Rueidislock is rueidislock on one node: one key of one (its majority is of keys
// in one deployment, not of independent nodes), and without being told of its
// own writes, which it recommends since Redis 7.0.5.
func Rueidislock(_ context.Context, addrs []string) (measure.Lock, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: addrs[:1], ForceSingleClient: true},
		KeyMajority:    1,
		TryNextAfter:   lockWithin, // 20 ms by default, which 50 goroutines can exceed
		KeyValidity:    TTL,
		NoLoopTracking: true,
	})
	if err != nil {
		return measure.Lock{}, err
	}
	cycle := func(ctx context.Context, key string) error {
		_, release, err := locker.TryWithContext(ctx, key)
		if err != nil {
			return err
		}
		release() // returns once the key is deleted
		return nil
	}
	closed := func() error { locker.Close(); return nil }
	return measure.Lock{Name: "rueidislock", Cycle: cycle, Close: closed}, nil
}
