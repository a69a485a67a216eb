package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
)

type Charge struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount_cents"`
}

func (Charge) Kind() string    { return "payments.charge" }
func (c Charge) JobID() string { return c.ID }

// start returns a client of a Redis in this process, and what ends both.
func start() (*queue.Client, func()) {
	fleet, err := embedded.Start(1)
	if err != nil {
		panic(err)
	}
	q, err := queue.New(queue.Config{Redis: asynq.RedisClientOpt{Addr: strings.TrimPrefix(fleet.Queue(), "redis://")}})
	if err != nil {
		panic(err)
	}
	return q, func() { _, _ = q.Close(), fleet.Close() }
}

func ExampleClient_Enqueue() {
	q, stop := start()
	defer stop()

	info, err := q.Enqueue(context.Background(), Charge{ID: "ch_1", Amount: 500},
		queue.On("payments"), queue.MaxAttempts(10), queue.Timeout(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.TaskID, "is", info.State, "on", info.Queue)
	// Output: payments.charge:ch_1 is waiting on payments
}

// A duplicate is success to most callers; a mismatch never is.
func ExampleDuplicateError() {
	q, stop := start()
	defer stop()

	for _, amount := range []int64{500, 500, 900} {
		_, err := q.Enqueue(context.Background(), Charge{ID: "ch_1", Amount: amount})
		switch {
		case errors.Is(err, queue.ErrDuplicate):
			duplicate, _ := errors.AsType[*queue.DuplicateError](err)
			fmt.Println("already", duplicate.State)
		case errors.Is(err, holdfast.ErrMismatch):
			fmt.Println("refused:", err)
		case err != nil:
			fmt.Println("queued or not:", err)
		default:
			fmt.Println("queued")
		}
	}
	// Output:
	// queued
	// already waiting
	// refused: queue: enqueue "payments.charge:ch_1" on "default": same job ID, other payload: already there, waiting
}

func ExampleClient_EnqueueAll() {
	q, stop := start()
	defer stop()

	items := []queue.Item{
		{Args: Charge{ID: "ch_1", Amount: 500}},
		{Args: Charge{ID: "ch 2", Amount: 700}},
		{Args: Charge{ID: "ch_3", Amount: 900}, Options: []queue.Option{queue.On("bulk")}},
	}
	for i, o := range q.EnqueueAll(context.Background(), items) {
		if o.Err != nil {
			fmt.Println(i, o.Err)
			continue
		}
		fmt.Println(i, o.Info.ID, "on", o.Info.Queue)
	}
	// Output:
	// 0 ch_1 on default
	// 1 queue: JobID: "ch 2" is not accepted: want 1 to 200 bytes of printable UTF-8 without space or slash
	// 2 ch_3 on bulk
}

// The result of a finished job stays readable while its record lives. The
// records are those of the locker that the workers use.
func ExampleClient_Result() {
	q, err := queue.New(queue.Config{Redis: asynq.RedisClientOpt{Addr: "127.0.0.1:6379"}, Records: finished{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = q.Close() }()

	record, err := q.Result(context.Background(), "payments.charge", "ch_1")
	fmt.Println(string(record.Result), err)
	// Output: {"receipt":"r_1"} <nil>
}

// finished stands for a redlock.Locker here.
type finished struct{}

func (finished) Record(_ context.Context, key string) (holdfast.Record, bool, error) {
	return holdfast.Record{Result: []byte(`{"receipt":"r_1"}`)}, key == "j/payments.charge/ch_1", nil
}

func (finished) Void(context.Context, string, time.Duration) error { return nil }

// An operator runs a finished job again, on purpose. While it is under way, nobody
// does.
func ExampleClient_RunAgain() {
	fleet := holdfast.Must(embedded.Start(3))
	defer fleet.Close()
	locker := holdfast.Must(redlock.New(redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), Ungated: true}))
	defer locker.Close()
	q := holdfast.Must(queue.New(queue.Config{Redis: fleet, Records: locker}))
	defer q.Close()

	_, err := q.RunAgain(context.Background(), "payments.charge", "ch_1")
	fmt.Println(err)
	holdfast.Must(q.Enqueue(context.Background(), Charge{ID: "ch_1", Amount: 500}))
	_, err = q.RunAgain(context.Background(), "payments.charge", "ch_1")
	fmt.Println(err)
	// Output:
	// queue: unknown job: "payments.charge:ch_1"
	// queue: job "payments.charge:ch_1" on "default" is not done: waiting
}
