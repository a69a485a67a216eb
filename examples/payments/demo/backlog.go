package demo

import (
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// silentTime is how long the queue's Redis may fail in the middle of a run.
const silentTime = 4 * time.Second

// jobs are the numbers of jobs in both queues, by what they do.
type jobs struct{ waiting, active, retrying, archived int }

// open is how many will still run.
func (j jobs) open() int { return j.waiting + j.active + j.retrying }

// backlog looks into the queues.
type backlog struct {
	inspector *asynq.Inspector
	address   string
	queues    []string
	answered  time.Time
	last      jobs
}

func newBacklog(client redis.UniversalClient, s Settings) *backlog {
	return &backlog{
		inspector: asynq.NewInspectorFromRedisClient(client),
		address:   address(client),
		queues:    []string{s.Queue, s.SecondQueue},
		answered:  time.Now(),
	}
}

// look counts the jobs. While Redis fails for a moment it repeats the last
// numbers.
func (b *backlog) look() (jobs, error) {
	var sum jobs
	for _, queue := range b.queues {
		info, err := b.inspector.GetQueueInfo(queue)
		if errors.Is(err, asynq.ErrQueueNotFound) {
			continue // nothing was put on it yet
		}
		if err != nil && time.Since(b.answered) > silentTime {
			return jobs{}, fmt.Errorf("the queue's Redis at %s stopped answering: %w", b.address, plain(err))
		}
		if err != nil {
			return b.last, nil
		}
		sum.waiting += info.Pending + info.Scheduled
		sum.active += info.Active
		sum.retrying += info.Retry
		sum.archived += info.Archived
	}
	b.answered, b.last = time.Now(), sum
	return sum, nil
}
