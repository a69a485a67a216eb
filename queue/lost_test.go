package queue

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

func lostReply(t *testing.T, redis asynq.RedisClientOpt) {
	p, proxied := through(t, redis)

	// The control: plain asynq takes its own job for somebody else's.
	plain := asynq.NewClient(proxied)
	t.Cleanup(func() { _ = plain.Close() })
	queue := setup(t, redis).queue
	for _, id := range []string{"warm-up", "control"} {
		_, err := plain.Enqueue(asynq.NewTask("k", nil), asynq.TaskID(id), asynq.Queue(queue))
		if id == "control" && !errors.Is(err, asynq.ErrTaskIDConflict) {
			t.Fatalf("control: %v", err)
		}
		p.deaf.Store(1)
	}
	p.deaf.Store(0)

	b := setup(t, proxied, func(c *Config) { c.SendTimeout = 10 * time.Second })
	b.must(t, charge{"warm-up", 1}, On(b.queue+"-warm")) // loads the scripts
	b.must(t, charge{"warm-up", 1}, On(queue))
	for lost := int64(1); lost <= 2; lost++ { // the reply, and the re-sent command's reply as well
		p.lost.Store(0)
		p.deaf.Store(lost)
		name := []string{"", "once", "twice"}[lost]
		info := b.must(t, charge{name, 500}, On(queue))
		if got := p.lost.Load(); got != lost || info.State != Waiting {
			t.Errorf("%s: %d replies lost, info %+v", name, got, info)
		}
		if _, err := b.Enqueue(t.Context(), charge{name, 500}, On(queue)); !errors.Is(err, ErrDuplicate) {
			t.Errorf("%s, a second call: %v", name, err)
		}
	}
	if q, err := b.inspector.GetQueueInfo(queue); err != nil || q.Pending != 5 { // two by plain asynq, a warm-up, once, twice
		t.Errorf("%+v, %v: want 5 pending", q, err)
	}
}

func noReplyAtAll(t *testing.T, redis asynq.RedisClientOpt) {
	p, proxied := through(t, redis)
	direct := setup(t, redis)
	b := setup(t, proxied)
	b.must(t, charge{"warm-up", 1}, On(direct.queue))
	if err := direct.inspector.DeleteTask(direct.queue, "payments.charge:warm-up"); err != nil {
		t.Fatal(err)
	}
	p.deaf.Store(1 << 30)
	if _, err := b.Enqueue(t.Context(), charge{"ch_1", 500}, On(direct.queue)); err == nil || errors.Is(err, ErrDuplicate) {
		t.Errorf("got %v", err)
	}
	direct.entry(t)
	p.deaf.Store(0)
	if _, err := b.Enqueue(t.Context(), charge{"ch_1", 500}, On(direct.queue)); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a second call: %v", err)
	}
}

func TestARedisThatIsDownIsOneClearErrorWithinASecond(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	b := setup(t, asynq.RedisClientOpt{Addr: addr})
	begin := time.Now()
	_, err = b.Enqueue(t.Context(), charge{"ch_1", 500})
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %v", took)
	}
	for _, word := range []string{`queue: enqueue "payments.charge:ch_1" on "` + b.queue + `": SADD failed: `, addr, "connection refused"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %s", err, word)
		}
	}
}

func TestAnErrorOfRedisSpeaksOfRedisAndNotOfAsynq(t *testing.T) {
	p, proxied := through(t, inProcess(t))
	b := setup(t, proxied)
	b.must(t, charge{"warm-up", 1}) // asynq's first command differs from those to come
	p.cut()
	_, err := b.Enqueue(t.Context(), charge{"ch_1", 500})
	want := `queue: enqueue "payments.charge:ch_1" on "` + b.queue + `": dial tcp ` + proxied.Addr
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// quiet listens and never accepts: the kernel completes the handshakes.
func quiet(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestASilentRedisEndsWithTheCallersDeadlineOrOurs(t *testing.T) {
	redis := asynq.RedisClientOpt{Addr: quiet(t)}
	t.Run("ours", func(t *testing.T) {
		b := setup(t, redis, func(c *Config) { c.SendTimeout = 100 * time.Millisecond })
		_, err := b.Enqueue(t.Context(), charge{"ch_1", 500})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 100ms") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the caller's", func(t *testing.T) {
		b := setup(t, redis)
		late := errors.New("the request is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
		defer cancel()
		begin := time.Now()
		if _, err := b.Enqueue(ctx, charge{"ch_1", 500}); !errors.Is(err, late) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAnEndedContextSendsNothing(t *testing.T) {
	b := setup(t, inProcess(t))
	why := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := b.Enqueue(ctx, charge{"ch_1", 500}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if names, err := b.inspector.Queues(); err != nil || len(names) != 0 {
		t.Errorf("queues %v, %v", names, err)
	}
}
