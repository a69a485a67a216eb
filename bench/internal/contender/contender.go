// Package contender makes locks of four libraries ready to be measured, each set
// up as a careful user of it would, with the same TTL.
package contender

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/bench/internal/measure"
)

// TTL is every contender's.
const TTL = 5 * time.Second

// lockWithin is what redsync gives a lock by default, 5 % of its expiry: it is for
// those that have no such limit, or one that a busy machine exceeds.
const lockWithin = TTL / 20

// poolSize has a connection for each of the goroutines.
const poolSize = 64

// All returns every lock that can use these nodes.
func All(ctx context.Context, addrs []string) ([]measure.Lock, error) {
	makers := []func(context.Context, []string) (measure.Lock, error){
		Redlock, RedlockRecord, RedlockTwoKeys, Redsync,
	}
	if len(addrs) > 1 {
		makers = append(makers, RedsyncFailFast)
	} else {
		makers = append(makers, Redislock, Rueidislock)
	}
	return Make(ctx, addrs, makers...)
}

// Make returns what the makers make, or nothing at all.
func Make(ctx context.Context, addrs []string, makers ...func(context.Context, []string) (measure.Lock, error)) ([]measure.Lock, error) {
	locks := make([]measure.Lock, 0, len(makers))
	for _, maker := range makers {
		l, err := maker(ctx, addrs)
		if err != nil {
			return nil, errors.Join(err, Close(locks))
		}
		locks = append(locks, l)
	}
	return locks, nil
}

// Close closes all locks.
func Close(locks []measure.Lock) error {
	var errs []error
	for _, l := range locks {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// newClient is go-redis with its defaults, but for two: a connection for every
// goroutine, so that none waits for another's, and deadlines that count, so that
// redsync's own per-node timeout does.
func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, PoolSize: poolSize, ContextTimeoutEnabled: true})
}
