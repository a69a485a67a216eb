package redlock

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// wire carries commands to one node. It is the seam below which tests put a
// network of their own. It is safe for concurrent use.
type wire interface {
	// pipeline sends all commands in one round trip on one connection, and
	// returns one answer for each. A failure of the transport is the error of
	// every command that it left without a reply.
	pipeline(ctx context.Context, cmds [][]any) []answer
	// pin returns the same on one connection, which close gives back.
	pin() wire
	subscribe(ctx context.Context) subscription
	close() error
}

// answer is what came back for one command: the strings of the reply, or why
// there are none.
type answer struct {
	text []string
	err  error
}

// subscription is go-redis's: it reconnects and remembers what it was asked for.
type subscription interface {
	Channel(...redis.ChannelOption) <-chan *redis.Message
	Subscribe(ctx context.Context, channels ...string) error
	Unsubscribe(ctx context.Context, channels ...string) error
	Close() error
}

// redisWire is the real one.
type redisWire struct {
	client *redis.Client
	pinned *redis.Conn // nil: any connection of the client's
}

func (w redisWire) pipeline(ctx context.Context, cmds [][]any) []answer {
	var pipe redis.Pipeliner
	if w.pinned != nil {
		pipe = w.pinned.Pipeline()
	} else {
		pipe = w.client.Pipeline()
	}
	sent := make([]redis.Cmder, len(cmds))
	for i, c := range cmds {
		switch c[0] {
		case "EVALSHA", "EVAL", "TIME":
			sent[i] = redis.NewStringSliceCmd(ctx, c...)
		case "CONFIG":
			sent[i] = redis.NewMapStringStringCmd(ctx, c...)
		default:
			sent[i] = redis.NewStringCmd(ctx, c...)
		}
		_ = pipe.Process(ctx, sent[i]) // only queues it
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	answers := make([]answer, len(cmds))
	for i, s := range sent {
		switch c := s.(type) {
		case *redis.StringSliceCmd:
			answers[i].text, answers[i].err = c.Result()
		case *redis.StringCmd:
			answers[i] = answer{text: []string{c.Val()}, err: c.Err()}
		case *redis.MapStringStringCmd: // names and values in turn
			for name, value := range c.Val() {
				answers[i].text = append(answers[i].text, name, value)
			}
			answers[i].err = c.Err()
		}
	}
	return answers
}

func (w redisWire) pin() wire {
	return redisWire{client: w.client, pinned: w.client.Conn()}
}

func (w redisWire) subscribe(ctx context.Context) subscription { return w.client.Subscribe(ctx) }

func (w redisWire) close() error {
	if w.pinned != nil {
		return w.pinned.Close()
	}
	return w.client.Close()
}
