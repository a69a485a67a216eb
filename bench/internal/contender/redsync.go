package contender

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/bench/internal/measure"
)

// Redsync is redsync as it comes: it waits for every node.
func Redsync(_ context.Context, addrs []string) (measure.Lock, error) {
	return newRedsync(measure.Base, addrs, redsync.WithExpiry(TTL))
}

// RedsyncFailFast waits for a majority only, as ours does.
func RedsyncFailFast(_ context.Context, addrs []string) (measure.Lock, error) {
	return newRedsync("redsync+failfast", addrs, redsync.WithExpiry(TTL), redsync.WithFailFast(true))
}

func newRedsync(name string, addrs []string, options ...redsync.Option) (measure.Lock, error) {
	clients := make([]*redis.Client, len(addrs))
	pools := make([]redsyncredis.Pool, len(addrs))
	for i, addr := range addrs {
		clients[i] = newClient(addr)
		pools[i] = goredis.NewPool(clients[i])
	}
	rs := redsync.New(pools...)
	cycle := func(ctx context.Context, key string) error {
		m := rs.NewMutex(key, options...)
		if err := m.TryLockContext(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, lockWithin) // redsync sets no limit here
		defer cancel()
		ok, err := m.UnlockContext(ctx)
		if ok {
			return nil // a minority's error is no failure
		}
		return errors.Join(errors.New("redsync: not unlocked"), err)
	}
	closeAll := func() error {
		var errs []error
		for _, c := range clients {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	return measure.Lock{Name: name, Cycle: cycle, Close: closeAll}, nil
}
