package holdfast_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/holdfasttest"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
	"github.com/holdfastjobs/holdfast/worker/workertest"
)

// The README's code behind its first block, in a file that compiles.

type Charge struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Amount  int64  `json:"amount_cents"`
}

func (Charge) Kind() string    { return "payments.charge" }
func (c Charge) JobID() string { return c.ID } // "" makes every enqueue a job of its own

func wiring(ctx context.Context, store Store, report func(context.Context) error) error {
	// The lock nodes: independent primaries, 1, 3, 5 or 7 of them, Redis 7.0 or later.
	locker, err := redlock.New(redlock.Config{Nodes: redlock.URLs("redis://a:6379", "redis://b:6379", "redis://c:6379")})
	if err != nil {
		return err
	}

	// The worker: the lock is a middleware. Also names what else the job touches.
	w, err := worker.New(worker.Config{Redis: asynq.RedisClientOpt{Addr: "queue:6379"}, Queues: map[string]int{"payments": 1}})
	if err != nil {
		return err
	}
	worker.Handle(w, store.Charge, lock.Middleware(locker,
		lock.Also(func(c Charge) []string { return []string{"account/" + c.Account} })))
	err = w.Run(ctx) // until ctx ends, then drains
	if err != nil {
		return err
	}

	// The producer.
	jobs, err := queue.New(queue.Config{Redis: asynq.RedisClientOpt{Addr: "queue:6379"}, Records: locker})
	if err != nil {
		return err
	}
	_, err = jobs.Enqueue(ctx, Charge{ID: "ch_1", Account: "a1", Amount: 500}, queue.On("payments"), queue.MaxAttempts(10))
	switch there, _ := errors.AsType[*queue.DuplicateError](err); {
	case there == nil: // queued, or err says why not
	case there.State == queue.Archived: // it failed for good earlier, and an operator has to look at it
	default:
		err = nil // waiting, running or done: a success
	}
	if err != nil {
		return err
	}

	// What the handler stored with holdfast.SetResult, for 24 h.
	record, err := jobs.Result(ctx, "payments.charge", "ch_1")
	if err != nil {
		return err
	}
	_ = record

	// The lock without jobs.
	err = locker.Do(ctx, "report/daily", func(ctx context.Context) error { return report(ctx) })
	return err
}

type Store struct{ db *sql.DB }

var errStale = errors.New("a newer holder has written")

// The handler is a plain method. Effect and unique row are one transaction, so that a second run
// finds the first; and the token makes the database refuse whoever was paused for too long.
func (s Store) Charge(ctx context.Context, c Charge) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	booked, err := rows(tx.ExecContext(ctx, `INSERT INTO charges (id) VALUES ($1) ON CONFLICT DO NOTHING`, c.ID))
	if err != nil || booked == 0 {
		return err // 0: an earlier run got to its end
	}
	fresh, err := rows(tx.ExecContext(ctx, `UPDATE accounts SET cents = cents - $1, last_token = $2
		WHERE id = $3 AND last_token <= $2`, c.Amount, holdfast.Token(ctx), c.Account))
	if err != nil {
		return err
	}
	if fresh == 0 {
		return retry.After(errStale, time.Second) // rolled back, and tried again
	}
	return tx.Commit()
}

func rows(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func inTests(t *testing.T, store Store) {
	var lock workertest.Lock
	report := workertest.Run(t.Context(), workertest.NewJob(Charge{ID: "ch_1"}), store.Charge, lock.Middleware)
	report.Want(t, retry.KindDone)
	report.WantToken(t)

	fleet := holdfasttest.Start(t)
	_ = fleet
}

func TestTheReadmesCodeCompiles(t *testing.T) {
	t.Parallel()
	_, _ = wiring, inTests // they need a fleet to run: examples/payments has one
	for _, name := range []string{"README.md", "README.ja.md"} {
		compiles(t, name, 1, "readme_code_test.go") // the first block is hello
	}
}

// compiles looks for each line of a document's code, but for that of its first blocks,
// in files that compile. Comments may differ: they are in the reader's language.
func compiles(t *testing.T, name string, first int, files ...string) {
	t.Helper()
	compiled := ""
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compiled += string(source)
	}
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(doc), "```go\n")[1:]
	if len(blocks) <= first {
		t.Fatalf("%s has %d blocks of code", name, len(blocks))
	}
	for _, block := range blocks[first:] {
		shown, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(shown) {
			code, _, _ := strings.Cut(strings.TrimSpace(line), " //")
			if code != "" && !strings.HasPrefix(code, "//") && !strings.Contains(compiled, code) {
				t.Errorf("%s shows a line that is compiled nowhere: %s", name, code)
			}
		}
	}
}
