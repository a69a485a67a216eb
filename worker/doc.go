// Package worker runs the handlers of jobs that asynq delivers.
//
//	w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: "localhost:6379"}})
//	worker.Handle(w, store.Charge, lock.Middleware(locker))
//	err = w.Run(ctx) // until ctx ends, then drains
//
// # What a handler returns, and what happens to the job
//
//   - nil: done, whatever the clock says. A success after the timeout is a success.
//   - an error: counted. The job is tried again after the delay of Config.Retry;
//     at its last attempt it is archived.
//   - [retry.After]: counted too, with a delay of its own.
//   - [retry.Later]: not counted, never archived; the job goes to the retry set
//     of its queue and is tried again after the delay.
//   - [retry.Never]: archived at once. asynq.SkipRetry and asynq.RevokeTask mean
//     the same here: a job does not vanish without an archive entry.
//   - a panic, or runtime.Goexit: an error, counted.
//   - any error after the worker's own stop ended the context: not counted, as
//     nobody can tell what it stems from. retry.Never stays never.
//
// Delays reach Redis in whole seconds, rounded up; those that are not counted
// are at least one second.
//
// # What the worker decides before the handler runs
//
// Attempts that the budget no longer has and jobs past their deadline are
// archived, with [ErrBudget] and [ErrExpired]; so is a payload that does not
// decode ([DecodeError]) or a header that does not parse ([ErrHeaders]). A kind
// without handler is put back, uncounted, for Config.UnknownFor, so that a
// rolling deploy loses nothing; then it is archived with [ErrUnknownKind].
// These decisions are taken inside the middlewares (decoding and unknown kinds
// excepted): a lock is held when they are.
//
// # Who else touches the job
//
// Timeout and deadline end a context of the handler's own. asynq's is left
// alone, as asynq hands a job to the next worker as soon as its own context
// ends, while the handler still runs. It can end all the same: by an operator's
// cancel, or when the worker lost Redis for longer than asynq's lease of 30 s.
// The handler's context ends with it, and asynq ignores what the handler
// returns then.
//
// An asynq server that is there already can have the middlewares, too: [Adapt] and
// [Policy].
//
// Jobs of other producers run too, under asynq's own limits. On their last
// attempt asynq archives them for any error, [retry.Later] included, and when
// their worker dies; the latter is the one archive that Config.OnDead does not
// hear of.
package worker
