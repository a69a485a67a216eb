package worker_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

// cable is a pipe that can be cut: to everybody else, its worker is dead.
type cable struct {
	pipe
	cut *atomic.Bool
}

// errCut is a dial error: go-redis waits before it tries those again, where
// asynq would spin on another and stop the bubble's clock.
var errCut = &net.OpError{Op: "dial", Err: errors.New("the cable is cut")}

func (c cable) MakeRedisClient() any {
	return redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:0",
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			if c.cut.Load() {
				return nil, errCut
			}
			conn, err := c.Dial()
			return cableConn{conn, c.cut}, err
		},
	})
}

type cableConn struct {
	net.Conn
	cut *atomic.Bool
}

func (c cableConn) Write(p []byte) (int, error) {
	if c.cut.Load() {
		return 0, errCut
	}
	return c.Conn.Write(p)
}

func TestAJobWhoseWorkerDiedRunsAgainAsTheSameAttempt(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		var dead deaths
		attempts := make(chan int, 9)
		var cut atomic.Bool
		handle := func(ctx context.Context, _ charge) error {
			job, _ := holdfast.JobFrom(ctx)
			attempts <- job.Attempt
			if cut.Load() {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		cfg := b.config()
		cfg.OnDead = dead.hear
		second := b.worker(cfg)
		worker.Handle(second, handle)
		cfg.Redis = cable{b.redis.(pipe), &cut}
		first := b.worker(cfg)
		worker.Handle(first, handle)

		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.start(first)
		if got := <-attempts; got != 1 {
			t.Errorf("attempt %d", got)
		}
		cut.Store(true)
		b.start(second)
		began := time.Now()
		info := b.until(id, asynq.TaskStateCompleted)
		if got := <-attempts; got != 1 || info.Retried != 0 || len(attempts) != 0 {
			t.Errorf("attempt %d, retried %d, %d more", got, info.Retried, len(attempts))
		}
		t.Logf("run again %s after its worker was cut off", time.Since(began))
		dead.none(t)
		cut.Store(false)
	})
}
