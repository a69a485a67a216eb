package contender

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/bench/internal/measure"
	"github.com/holdfastjobs/holdfast/redlock"
)

const (
	readyWithin = 30 * time.Second // more than MaxTTL: for so long nodes may refuse that have just started
	retention   = time.Minute      // of completion records, which are no one's use here
)

// NewLocker returns a locker whose nodes grant. Its MaxTTL is its TTL: nodes that
// are new wait for that long, and so would the benchmark.
func NewLocker(ctx context.Context, addrs []string, ttl time.Duration) (*redlock.Locker, error) {
	urls := make([]string, len(addrs))
	for i, addr := range addrs {
		urls[i] = fmt.Sprintf("n%d=redis://%s", i, addr)
	}
	l, err := redlock.New(redlock.Config{Nodes: redlock.URLs(urls...), TTL: ttl, MaxTTL: ttl})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := l.Do(ctx, "ready", func(context.Context) error { return nil }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Redlock is ours: one key, acquired and released.
func Redlock(ctx context.Context, addrs []string) (measure.Lock, error) {
	return newRedlock(ctx, "redlock", addrs, redlock.Key, release)
}

// RedlockRecord is ours with a completion record: looked for by every acquire
// and written in place of every release.
func RedlockRecord(ctx context.Context, addrs []string) (measure.Lock, error) {
	claim := func(keys ...string) redlock.Claim { return redlock.Claim{Keys: keys, Record: keys[0]} }
	record := holdfast.Record{Hash: strings.Repeat("5", 64), Result: []byte(`{"receipt":"0123456789abcdef"}`)}
	return newRedlock(ctx, "redlock+record", addrs, claim, func(ctx context.Context, s *redlock.Lease) error {
		return s.Finish(ctx, record, retention)
	})
}

// RedlockTwoKeys is ours with two keys in each claim.
func RedlockTwoKeys(ctx context.Context, addrs []string) (measure.Lock, error) {
	claim := func(keys ...string) redlock.Claim { return redlock.Key(keys[0], keys[0]+"/second") }
	return newRedlock(ctx, "redlock+2keys", addrs, claim, release)
}

func release(ctx context.Context, s *redlock.Lease) error {
	outcome, err := s.Release(ctx)
	if err == nil && outcome != redlock.Released {
		return fmt.Errorf("release: %s", outcome)
	}
	return err
}

func newRedlock(
	ctx context.Context, name string, addrs []string,
	claim func(keys ...string) redlock.Claim, settle func(context.Context, *redlock.Lease) error,
) (measure.Lock, error) {
	l, err := NewLocker(ctx, addrs, TTL)
	if err != nil {
		return measure.Lock{}, err
	}
	cycle := func(ctx context.Context, key string) error {
		lease, err := l.TryAcquire(ctx, claim(key))
		if err != nil {
			return err
		}
		return settle(ctx, lease)
	}
	return measure.Lock{Name: name, Cycle: cycle, Close: l.Close}, nil
}
