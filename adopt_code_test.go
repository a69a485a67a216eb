package holdfast_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/worker"
)

// The code of docs/adopt.md, in a file that compiles; middleware/lock/adapt_test.go
// runs it. What a fleet has already comes as a parameter.

func adoptLocker() error {
	locker, err := redlock.New(redlock.Config{Nodes: redlock.URLs("redis://a:6379", "redis://b:6379", "redis://c:6379")})
	_ = locker
	return err
}

func adoptServer(locker *redlock.Locker, redis asynq.RedisConnOpt, deliver func(context.Context, *asynq.Task) error, sentry asynq.ErrorHandler) *asynq.Server {
	mux := asynq.NewServeMux()
	mux.Use(worker.Adapt(lock.Middleware(locker)))
	mux.HandleFunc("email:deliver", deliver)
	server := asynq.NewServer(redis, worker.Policy(asynq.Config{Concurrency: 10, ErrorHandler: sentry}))
	return server
}

func adoptResources(locker *redlock.Locker, mux *asynq.ServeMux, accountOf, merchantOf func(*asynq.Task) string) {
	account := lock.Also(func(task *asynq.Task) []string { return []string{"account/" + accountOf(task)} })
	mux.Use(worker.Adapt(lock.Middleware(locker, account)))

	merchant := lock.Also(func(task *asynq.Task) []string { return []string{"merchant/" + merchantOf(task)} })
	mux.Use(worker.Adapt(lock.Middleware(locker, merchant)))
}

func adoptToken(ctx context.Context, tx *sql.Tx, cents int64, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE merchants SET cents = cents - $1, last_token = $2
		WHERE id = $3 AND last_token <= $2`, cents, holdfast.Token(ctx), id)
	return err
}

func adoptWorker(ctx context.Context, redis asynq.RedisConnOpt, store Store, locker *redlock.Locker) error {
	w, err := worker.New(worker.Config{Redis: redis, Concurrency: 10})
	if err != nil {
		return err
	}
	worker.Handle(w, store.Charge, lock.Middleware(locker))
	err = w.Run(ctx)
	return err
}

func adoptJobIDs(ctx context.Context, redis asynq.RedisConnOpt, locker *redlock.Locker) error {
	jobs, err := queue.New(queue.Config{Redis: redis, Records: locker})
	if err != nil {
		return err
	}
	_, err = jobs.Enqueue(ctx, Charge{ID: "ch_1", Account: "a1", Amount: 500})
	if errors.Is(err, queue.ErrDuplicate) { // as asynq.ErrDuplicateTask
		err = nil
	}
	if err != nil {
		return err
	}
	record, err := jobs.Result(ctx, "payments.charge", "ch_1")
	_ = record
	if err != nil {
		return err
	}
	info, err := jobs.RunAgain(ctx, "payments.charge", "ch_1")
	_ = info
	return err
}

func TestTheCodeOfTheAdoptionGuideCompiles(t *testing.T) {
	t.Parallel()
	_ = []any{adoptLocker, adoptServer, adoptResources, adoptToken, adoptWorker, adoptJobIDs}
	compiles(t, "docs/adopt.md", 0, "adopt_code_test.go", "readme_code_test.go")
}
