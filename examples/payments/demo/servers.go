package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/embedded"
)

// answerTime is how long a server may take to show that it is there.
const answerTime = 3 * time.Second

// servers are the Redis servers of a run: those given, and embedded ones for the
// rest.
type servers struct {
	queue    redis.UniversalClient
	locks    []*redis.Client
	settings Settings
	fleet    *embedded.Fleet // nil when all were given
	given    bool            // any of them
}

// open puts the servers' URLs into s and asks each for a sign of life. A
// minority of the lock nodes may be down; warn hears of them.
func open(ctx context.Context, o Options, s *Settings, warn func(string)) (_ *servers, err error) {
	v := &servers{given: o.Redis != "" || len(o.Locks) > 0}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	s.Redis, s.Locks = o.Redis, o.Locks
	if s.Redis == "" || len(s.Locks) == 0 {
		if v.fleet, err = embedded.Start(3); err != nil {
			return nil, err
		}
		if s.Redis == "" {
			s.Redis = v.fleet.Queue()
		}
		if len(s.Locks) == 0 {
			s.Locks, s.Ungated = v.fleet.Locks(), true
		}
	}
	v.settings = *s
	opt, err := queueRedis(s.Redis)
	if err != nil {
		return nil, err
	}
	v.queue = opt.MakeRedisClient().(redis.UniversalClient)
	nodes, err := lockNodes(s.Locks)
	if err != nil {
		return nil, err
	}
	for _, options := range nodes {
		options.MaxRetries, options.ContextTimeoutEnabled = -1, true
		v.locks = append(v.locks, redis.NewClient(options))
	}
	if err := v.answer(ctx, warn); err != nil {
		return nil, err
	}
	return v, nil
}

// answer pings all servers at once.
func (v *servers) answer(ctx context.Context, warn func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	queue, locks := make(chan error, 1), make([]error, len(v.locks))
	// The queue's client may have a retry policy and no ear for contexts; it is
	// left behind when it takes too long, and closed.
	go func() { queue <- v.queue.Ping(ctx).Err() }()
	var pings sync.WaitGroup
	for i, node := range v.locks {
		pings.Go(func() { locks[i] = node.Ping(ctx).Err() })
	}
	var err error
	select {
	case err = <-queue:
	case <-ctx.Done():
		err = ctx.Err()
	}
	pings.Wait()
	if err != nil {
		return fmt.Errorf("the queue's Redis at %s does not answer: %w", address(v.queue), plain(err))
	}
	return v.majority(locks, warn)
}

func (v *servers) majority(answers []error, warn func(string)) error {
	var down []string
	for i, err := range answers {
		if err != nil {
			down = append(down, fmt.Sprintf("%s (%v)", v.locks[i].Options().Addr, plain(err)))
		}
	}
	text := fmt.Sprintf("%d of %d lock nodes do not answer: %s", len(down), len(answers), strings.Join(down, ", "))
	if 2*len(down) >= len(answers) {
		return errors.New(text)
	}
	if len(down) > 0 {
		warn(text + "; the others are a majority")
	}
	return nil
}

func address(c redis.UniversalClient) string {
	if single, ok := c.(*redis.Client); ok {
		return single.Options().Addr
	}
	return "the given address"
}

// plain drops the network and the address, which the line around names.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", answerTime)
	}
	return err
}

// clean removes what the run left on servers that were given. It must come after
// the last client of the run.
func (v *servers) clean(ctx context.Context) error {
	if !v.given {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var errs []error
	for _, name := range []string{v.settings.Queue, v.settings.SecondQueue} {
		errs = append(errs, unlink(ctx, v.queue, "asynq:{"+name+"}:*"), v.queue.SRem(ctx, "asynq:queues", name).Err())
	}
	for _, node := range v.locks {
		errs = append(errs, unlink(ctx, node, v.settings.Namespace+"*"))
	}
	return errors.Join(errs...)
}

func unlink(ctx context.Context, c redis.UniversalClient, pattern string) error {
	keys := c.Scan(ctx, 0, pattern, 1000).Iterator()
	for keys.Next(ctx) {
		if err := c.Unlink(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

func (v *servers) close() {
	if v.queue != nil {
		v.queue.Close()
	}
	for _, node := range v.locks {
		node.Close()
	}
	if v.fleet != nil {
		v.fleet.Close()
	}
}
