package redlock

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// node is one lock node and our own client to it.
type node struct {
	name    string
	redis   *redis.Client
	clock   Clock
	timeout time.Duration
	ahead   atomic.Pointer[time.Duration] // node time minus local clock, as last seen; nil before
}

func newNode(n Node, cfg Config) *node {
	return &node{name: n.name(), redis: redis.NewClient(ownOptions(n.Options, cfg.NodeTimeout)), clock: cfg.Clock, timeout: cfg.NodeTimeout}
}

// ownOptions keeps where and as whom the user connects. The job's load must not
// exhaust the pool that renews its lock, a deadline must end a command in time,
// and a command that was sent once must not be sent again behind our back.
func ownOptions(user *redis.Options, timeout time.Duration) *redis.Options {
	o := *user
	o.ContextTimeoutEnabled = true
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Limiter, o.OnConnect, o.ClientSideCacheConfig, o.ClientSideCache, o.AutoPipelineOptions = nil, nil, nil, nil, nil
	if o.PoolSize == 0 {
		o.PoolSize = 64 // many short round trips at once; connections open as they are needed
	}
	return &o
}

// reply is a script's answer: its first word, and the rest.
type reply struct {
	code   string
	fields []string
	now    int64 // the node's time, in microseconds since 1970
}

// number is field i as a number; 0 when there is none.
func (r reply) number(i int) int64 {
	if i >= len(r.fields) {
		return 0
	}
	n, _ := strconv.ParseInt(r.fields[i], 10, 64)
	return n
}

// run sends one script to the node and waits for its answer, each command for at
// most the node's timeout. Never by EVAL: the text goes over once per node life.
func (n *node) run(ctx context.Context, s script, keys []string, args ...any) (reply, error) {
	raw, sent, err := n.eval(ctx, s, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = n.load(ctx, s); err == nil {
			raw, sent, err = n.eval(ctx, s, keys, args)
		}
	}
	if err != nil {
		return reply{}, err
	}
	r := reply{code: raw[0]}
	if len(raw) > 1 {
		r.fields = raw[2:]
		r.now, _ = strconv.ParseInt(raw[1], 10, 64)
		n.observe(sent, r.now)
	}
	return r, nil
}

func (n *node) eval(ctx context.Context, s script, keys []string, args []any) (raw []string, sent time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	sent = n.clock.Now()
	raw, err = n.redis.EvalSha(ctx, s.sha, keys, args...).StringSlice()
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("redlock: node %s: empty reply", n.name)
	}
	return raw, sent, err
}

func (n *node) load(ctx context.Context, s script) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	return n.redis.ScriptLoad(ctx, s.text).Err()
}

func (n *node) get(ctx context.Context, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	return n.redis.Get(ctx, key).Result()
}

// readTime asks the node for its clock alone.
func (n *node) readTime(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	sent := n.clock.Now()
	t, err := n.redis.Time(ctx).Result()
	if err == nil {
		n.observe(sent, t.UnixMicro())
	}
	return err
}

// observe notes how far the node's clock is ahead of ours: it read its time
// somewhere between sent and now, so the middle is off by half a round trip.
func (n *node) observe(sent time.Duration, nowMicros int64) {
	ahead := time.Duration(nowMicros)*time.Microsecond - (sent+n.clock.Now())/2
	n.ahead.Store(&ahead)
}
