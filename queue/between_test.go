package queue

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// hooked lets a test act right before a command of the client under test.
type hooked struct {
	asynq.RedisClientOpt
	before func(command string)
}

func (h hooked) MakeRedisClient() any {
	c := h.RedisClientOpt.MakeRedisClient().(*redis.Client)
	c.AddHook(hook(h.before))
	return c
}

type hook func(command string)

func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h(cmd.Name())
		return next(ctx, cmd)
	}
}

// The inspector's first command is SISMEMBER: between it and the enqueue that
// found a conflict, the entry can go.
const look = "sismember"

func goneInBetween(t *testing.T, redis asynq.RedisClientOpt) {
	other := setup(t, redis)
	other.must(t, charge{"ch_1", 500})
	gone := 0
	b := setup(t, hooked{redis, func(command string) {
		if command == look && gone == 0 {
			gone++
			if err := other.inspector.DeleteTask(other.queue, "payments.charge:ch_1"); err != nil {
				t.Error(err)
			}
		}
	}})
	info := b.must(t, charge{"ch_1", 900}, On(other.queue))
	if info.State != Waiting || gone != 1 {
		t.Errorf("%+v after %d deletions", info, gone)
	}
	if e := other.entry(t); !strings.Contains(string(e.Payload), "900") {
		t.Errorf("entry %s, want the new one", e.Payload)
	}
}

func comesAndGoes(t *testing.T, redis asynq.RedisClientOpt) {
	other := setup(t, redis)
	rounds, looking := 0, false
	b := setup(t, hooked{redis, func(command string) {
		switch {
		case command == look:
			rounds, looking = rounds+1, true
			if err := other.inspector.DeleteTask(other.queue, "payments.charge:ch_1"); err != nil {
				t.Error(err)
			}
		case command == "evalsha" && looking: // the second command of the inspector
			looking = false
		case command == "evalsha":
			if _, err := other.Enqueue(t.Context(), charge{"ch_1", 1}); err != nil && !errors.Is(err, ErrDuplicate) {
				t.Error(err)
			}
		}
	}})
	_, err := b.Enqueue(t.Context(), charge{"ch_1", 1}, On(other.queue))
	if err == nil || !strings.Contains(err.Error(), "came and went 5 times") || rounds != tries {
		t.Errorf("%v after %d rounds", err, rounds)
	}
}

func forgottenQueue(t *testing.T, opt asynq.RedisClientOpt) {
	b := setup(t, opt)
	b.must(t, charge{"ch_1", 500})
	plain := opt.MakeRedisClient().(*redis.Client)
	t.Cleanup(func() { _ = plain.Close() })
	if n, err := plain.SRem(t.Context(), "asynq:queues", b.queue).Result(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := b.Enqueue(t.Context(), charge{"ch_1", 500}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("got %v", err)
	}
	b.entry(t) // the inspector knows the queue again
}
