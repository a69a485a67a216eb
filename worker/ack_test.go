package worker_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/worker"
)

// forgetful is a queue Redis that one ack does not reach, for all that go-redis
// tries.
type forgetful struct {
	asynq.RedisConnOpt
	failed *atomic.Bool
}

func (f forgetful) MakeRedisClient() any {
	client := f.RedisConnOpt.MakeRedisClient().(redis.UniversalClient)
	client.AddHook(f)
	return client
}

func (forgetful) DialHook(next redis.DialHook) redis.DialHook { return next }

func (forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f forgetful) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ack := cmd.Name() == "evalsha" && slices.Contains(cmd.Args(), any("asynq:{default}:t:payments.charge:ch_1"))
		if ack && f.failed.CompareAndSwap(false, true) {
			cmd.SetErr(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		return next(ctx, cmd)
	}
}

// The control: asynq alone runs a finished job again after one failed ack.
func TestOneFailedAckRunsTheJobAgainOnPlainAsynq(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		began := time.Now()
		runs := make(chan time.Duration, 9)
		server := asynq.NewServer(forgetful{b.redis, new(atomic.Bool)}, asynq.Config{
			LogLevel:       asynq.FatalLevel,
			RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
		})
		if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
			runs <- time.Since(began)
			return nil
		})); err != nil {
			t.Fatal(err)
		}
		defer server.Shutdown()
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		b.until(id, asynq.TaskStateCompleted)
		if len(runs) != 2 {
			t.Fatalf("the job ran %d times, want twice", len(runs))
		}
		t.Logf("runs at %s and at %s", <-runs, <-runs)
	})
}

func TestAFailedAckIsMadeGood(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		cfg.Redis = forgetful{b.redis, new(atomic.Bool)}
		reader := sdkmetric.NewManualReader()
		cfg.Telemetry.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		w := b.worker(cfg)
		runs := 0
		worker.Handle(w, func(context.Context, charge) error { runs++; return nil })
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{})
		began := time.Now()
		b.start(w)
		b.until(id, asynq.TaskStateCompleted)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %s", took)
		}
		<-time.After(5 * time.Minute) // asynq alone runs it again in this time
		if info := b.entry(id); runs != 1 || info.State != asynq.TaskStateCompleted {
			t.Errorf("%d runs, state %s", runs, info.State)
		}
		if rescued, lost := sum(t, reader, "holdfast.ack.rescued"), sum(t, reader, "holdfast.ack.lost"); rescued != 1 || lost != 0 {
			t.Errorf("%d acks rescued and %d lost, want 1 and 0", rescued, lost)
		}
	})
}

// What asynq would do with an ack that found nothing is to send it again, until a
// newer attempt is there for it to hit.
func TestAnAckThatFindsNothingIsCountedAndNotRepeated(t *testing.T) {
	inNoTime(t, func(t *testing.T, b *bundle) {
		cfg := b.config()
		reader := sdkmetric.NewManualReader()
		cfg.Telemetry.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
		var said lines
		cfg.Logger = slog.New(slog.NewTextHandler(&said, nil))
		w := b.worker(cfg)
		stale := make(chan struct{})
		runs := make(chan struct{}, 2)
		worker.Handle(w, func(context.Context, charge) error {
			runs <- struct{}{}
			if len(runs) == 1 {
				<-stale
				return errors.New("declined")
			}
			<-time.After(20 * time.Second) // asynq's repeats come each 5 s
			return nil
		})
		id := b.enqueue(charge{ID: "ch_1"}, holdfast.Envelope{MaxAttempts: 5})
		b.start(w)
		b.eventually(func() bool { return len(runs) == 1 }, func() any { return "the first run" })
		client := b.redis.MakeRedisClient().(redis.UniversalClient)
		defer client.Close()
		b.away(client, id)
		close(stale)
		b.eventually(func() bool { return said.count("ack came too late: the job's entry is not active any more") == 1 }, func() any { return "the line" })
		b.back(client, id)
		b.until(id, asynq.TaskStateActive)
		info := b.until(id, asynq.TaskStateCompleted)
		if lost := sum(t, reader, "holdfast.ack.lost"); lost != 1 || info.Retried != 0 || len(runs) != 2 {
			t.Errorf("%d acks lost, retried %d, %d runs; want 1, 0 and 2", lost, info.Retried, len(runs))
		}
	})
}

// away takes an active entry from its worker, and back puts it where the next one
// finds it.
func (b *bundle) away(client redis.UniversalClient, id string) {
	b.t.Helper()
	for key, remove := range map[string]func() (int64, error){
		"active": client.LRem(context.Background(), "asynq:{default}:active", 0, id).Result,
		"lease":  client.ZRem(context.Background(), "asynq:{default}:lease", id).Result,
	} {
		if n, err := remove(); err != nil || n != 1 {
			b.t.Fatalf("%s: %d removed, %v", key, n, err)
		}
	}
}

func (b *bundle) back(client redis.UniversalClient, id string) {
	b.t.Helper()
	if err := errors.Join(
		client.HSet(context.Background(), "asynq:{default}:t:"+id, "state", "pending").Err(),
		client.RPush(context.Background(), "asynq:{default}:pending", id).Err(),
	); err != nil {
		b.t.Fatal(err)
	}
}

// sum is the value of a counter over all of its attributes.
func sum(t *testing.T, reader sdkmetric.Reader, name string) (total int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if data, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				for _, point := range data.DataPoints {
					total += point.Value
				}
			}
		}
	}
	return total
}

// lines is a log that may be written to and read at once.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}
