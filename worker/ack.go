package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// ackTime is what a rescued ack has.
const ackTime = 3 * time.Second

// acks is a hook on the go-redis client of asynq's server. asynq v0.26.0 tries a
// failed ack again every 5 s, but under the context of the first try, which it
// has cancelled: without the hook none of these gets through, and the finished
// job runs again a minute or two later.
type acks struct {
	log     *slog.Logger
	rescued metric.Int64Counter
	lost    metric.Int64Counter
}

func newAcks(cfg Config) acks {
	meter := cfg.Telemetry.Meter()
	rescued, err1 := meter.Int64Counter("holdfast.ack.rescued", metric.WithUnit("{ack}"),
		metric.WithDescription("Acks that failed at first and reached the queue at a later try."))
	lost, err2 := meter.Int64Counter("holdfast.ack.lost", metric.WithUnit("{ack}"),
		metric.WithDescription("Acks that found the job's entry no longer active: another attempt may own it."))
	if err := errors.Join(err1, err2); err != nil {
		cfg.Logger.Warn("metrics are incomplete", "err", err)
	}
	return acks{log: cfg.Logger, rescued: rescued, lost: lost}
}

func (acks) DialHook(next redis.DialHook) redis.DialHook { return next }

func (acks) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next // asynq acknowledges one job at a time
}

func (a acks) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		queue, id, ack := ackOf(cmd.Args())
		until, bounded := ctx.Deadline()
		if !ack || !bounded { // asynq's recoverer runs the same scripts, without a deadline
			return next(ctx, cmd)
		}
		// The deadline is that of asynq's lease. Past it the job may be another's.
		late := ctx.Err() != nil && time.Now().Before(until)
		if late {
			fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTime)
			defer cancel()
			ctx = fresh
		}
		err := next(ctx, cmd)
		labels := metric.WithAttributes(semconv.MessagingDestinationName(queue))
		switch {
		case err == nil && late:
			a.rescued.Add(ctx, 1, labels)
			a.log.InfoContext(ctx, "ack that had failed was made good", "queue", queue, "task_id", id)
		case err != nil && strings.Contains(err.Error(), "NOT FOUND"):
			a.lost.Add(ctx, 1, labels)
			a.log.WarnContext(ctx, "ack came too late: the job's entry is not active any more", "queue", queue, "task_id", id)
			// asynq would try again, and by then the entry may be active again, as a
			// newer attempt's.
			cmd.SetErr(nil)
			return nil
		}
		return err
	}
}

// ackOf tells the scripts with which asynq takes a job off its active list from
// its others, by their keys: the active list, the lease set and the job's own
// entry, all of one queue. Read from internal/rdb of asynq v0.26.0, where Done,
// MarkAsComplete, Retry, Archive and Requeue have these and no other script has;
// their hashes would change with every edit. The job's ID is the first argument:
//
//	EVALSHA <hash> <number of keys> <key>... <task ID> <argument>...
func ackOf(args []any) (queue, id string, ok bool) {
	if len(args) < 4 || args[0] != "evalsha" && args[0] != "eval" {
		return "", "", false
	}
	n, _ := args[2].(int)
	if n < 3 || len(args) <= 3+n {
		return "", "", false
	}
	id, _ = args[3+n].(string)
	keys := make(map[string]bool, n)
	prefix := ""
	for _, arg := range args[3 : 3+n] {
		key, _ := arg.(string)
		keys[key] = true
		if p, entry := strings.CutSuffix(key, ":t:"+id); entry && id != "" {
			prefix = p
		}
	}
	queue, found := strings.CutPrefix(prefix, "asynq:{")
	queue, closed := strings.CutSuffix(queue, "}")
	return queue, id, found && closed && keys[prefix+":active"] && keys[prefix+":lease"]
}
