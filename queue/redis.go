package queue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// connect makes a client that heeds the deadline of each call and does not
// linger at a Redis that is down. Of an option type other than RedisClientOpt
// it takes the client as it comes: that heeds deadlines between tries only.
func connect(option asynq.RedisConnOpt) (redis.UniversalClient, error) {
	if p, ok := option.(*asynq.RedisClientOpt); ok && p != nil {
		option = *p
	}
	if o, ok := option.(asynq.RedisClientOpt); ok {
		return redis.NewClient(&redis.Options{
			Network: o.Network, Addr: o.Addr, TLSConfig: o.TLSConfig,
			Username: o.Username, Password: o.Password, DB: o.DB,
			DialTimeout:   cmp.Or(o.DialTimeout, time.Second),
			ReadTimeout:   cmp.Or(o.ReadTimeout, time.Second),
			WriteTimeout:  cmp.Or(o.WriteTimeout, o.ReadTimeout, time.Second),
			DialerRetries: 1, // each try of a command dials again anyway
			PoolSize:      o.PoolSize,

			ContextTimeoutEnabled: true,
		}), nil
	}
	client, ok := option.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, refuse(true, "Redis", fmt.Sprintf("%T", option), "an option that makes a redis.UniversalClient")
	}
	return client, nil
}

// inspect looks at one entry.
func (c *Client) inspect(ctx context.Context, queue, taskID string) (*asynq.TaskInfo, error) {
	return c.inspector(ctx).GetTaskInfo(queue, taskID)
}

// inspector is asynq's. Its methods take no context, so it gets a client that puts
// ours in the place of its own.
func (c *Client) inspector(ctx context.Context) *asynq.Inspector {
	return asynq.NewInspectorFromRedisClient(within{c.redis, ctx})
}

// within overrides the commands of the Inspector's Queues, GetTaskInfo and RunTask.
type within struct {
	redis.UniversalClient
	ctx context.Context
}

func (w within) SMembers(_ context.Context, key string) *redis.StringSliceCmd {
	return w.UniversalClient.SMembers(w.ctx, key) //nolint:contextcheck // the point of it
}

func (w within) SIsMember(_ context.Context, key string, member any) *redis.BoolCmd {
	return w.UniversalClient.SIsMember(w.ctx, key, member) //nolint:contextcheck // the point of it
}

func (w within) EvalSha(_ context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return w.UniversalClient.EvalSha(w.ctx, sha, keys, args...) //nolint:contextcheck // the point of it
}

func (w within) Eval(_ context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return w.UniversalClient.Eval(w.ctx, script, keys, args...) //nolint:contextcheck // the point of it
}
