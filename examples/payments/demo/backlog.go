package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// How long the queue's Redis may refuse or break connections in the middle of a
// run, and how long it may just be slow.
const (
	brokenTime = 3 * time.Second
	slowTime   = 20 * time.Second
)

// jobs are the numbers of jobs in both queues, by what they do.
type jobs struct{ waiting, active, retrying, archived int64 }

// open is how many will still run.
func (j jobs) open() int64 { return j.waiting + j.active + j.retrying }

// backlog looks into the queues. It reads asynq's lists itself, under their own
// names: asynq's inspector also weighs every task, and is asked for that too
// seldom to be quick about it.
type backlog struct {
	redis    redis.UniversalClient
	queues   []string
	answered time.Time
	last     jobs
}

func newBacklog(client redis.UniversalClient, s Settings) *backlog {
	return &backlog{redis: client, queues: []string{s.Queue, s.SecondQueue}, answered: time.Now()}
}

// look counts the jobs. While Redis fails for a moment it repeats the last
// numbers.
func (b *backlog) look(ctx context.Context) (jobs, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var sum jobs
	for _, queue := range b.queues {
		if err := b.add(ctx, &sum, "asynq:{"+queue+"}:"); err != nil {
			patience := brokenTime
			if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
				patience = slowTime
			}
			if time.Since(b.answered) > patience {
				return jobs{}, fmt.Errorf("the queue's Redis at %s stopped answering: %w", address(b.redis), plain(err))
			}
			return b.last, nil
		}
	}
	b.answered, b.last = time.Now(), sum
	return sum, nil
}

// add reads one queue in a transaction: a job on its way from one list to
// another is in exactly one of them.
func (b *backlog) add(ctx context.Context, sum *jobs, prefix string) error {
	var pending, active, scheduled, retry, archived *redis.IntCmd
	_, err := b.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		pending = p.LLen(ctx, prefix+"pending")
		active = p.LLen(ctx, prefix+"active")
		scheduled = p.ZCard(ctx, prefix+"scheduled")
		retry = p.ZCard(ctx, prefix+"retry")
		archived = p.ZCard(ctx, prefix+"archived")
		return nil
	})
	if err != nil {
		return err
	}
	sum.waiting += pending.Val() + scheduled.Val()
	sum.active += active.Val()
	sum.retrying += retry.Val()
	sum.archived += archived.Val()
	return nil
}
