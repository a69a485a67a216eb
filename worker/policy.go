package worker

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
)

// Policy returns cfg with an IsFailure, RetryDelayFunc and ErrorHandler that know what
// the middlewares of [Adapt] answer, and ask those of cfg, or asynq's defaults, about
// everything else:
//
//   - what is put back, such as for a lock that another holds, is no failure: it is not
//     counted, comes again after its own delay, and no ErrorHandler hears of it;
//   - [retry.After] is a failure, with its own delay;
//   - [retry.Never], and the last attempt of a job of package queue, is an archive: the
//     ErrorHandler hears an error that wraps the handler's own and Is asynq.SkipRetry.
//
// Nothing else of cfg changes. A worker that dies is a failure still, if cfg says so.
//
// [retry.After]: https://pkg.go.dev/github.com/holdfastjobs/holdfast/retry#After
// [retry.Never]: https://pkg.go.dev/github.com/holdfastjobs/holdfast/retry#Never
func Policy(cfg asynq.Config) asynq.Config {
	isFailure, delay, handler := cfg.IsFailure, cfg.RetryDelayFunc, cfg.ErrorHandler
	if isFailure == nil {
		isFailure = func(error) bool { return true } // asynq's own, of errors only
	}
	if delay == nil {
		delay = asynq.DefaultRetryDelayFunc
	}
	cfg.IsFailure = func(err error) bool {
		if o, ours := errors.AsType[*outcome](err); ours {
			return o.counted
		}
		return isFailure(err)
	}
	cfg.RetryDelayFunc = func(retried int, err error, task *asynq.Task) time.Duration {
		if o, ours := errors.AsType[*outcome](err); ours {
			return o.delay
		}
		return delay(retried, err, task)
	}
	if handler != nil {
		cfg.ErrorHandler = asynq.ErrorHandlerFunc(func(ctx context.Context, task *asynq.Task, err error) {
			o, ours := errors.AsType[*outcome](err)
			switch {
			case !ours:
				handler.HandleError(ctx, task, err)
			case o.counted || o.dead:
				handler.HandleError(ctx, task, heard{o})
			}
		})
	}
	return cfg
}

// heard is an outcome for those who only listen, and may look beneath.
type heard struct{ *outcome }

// Unwrap returns what the chain returned.
func (h heard) Unwrap() error { return h.err }
