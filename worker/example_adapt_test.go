package worker_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/worker"
)

// An asynq server with a mux of its own takes the lock in two lines.
func ExampleAdapt() {
	fleet := holdfast.Must(embedded.Start(3))
	defer fleet.Close()
	quiet := slog.New(slog.DiscardHandler)
	locker := holdfast.Must(redlock.New(redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), Ungated: true, Logger: quiet}))
	defer locker.Close()
	producer := asynq.NewClient(fleet)
	defer producer.Close()
	holdfast.Must(producer.Enqueue(asynq.NewTask("email:deliver", []byte("ada"))))

	done := make(chan struct{})
	mux := asynq.NewServeMux()
	mux.Use(worker.Adapt(lock.Middleware(locker)))
	mux.HandleFunc("email:deliver", func(ctx context.Context, task *asynq.Task) error {
		fmt.Println("to", string(task.Payload()), "under a token:", holdfast.Token(ctx) > 0)
		close(done)
		return nil
	})
	server := asynq.NewServer(fleet, worker.Policy(asynq.Config{LogLevel: asynq.FatalLevel}))
	if err := server.Start(mux); err != nil {
		fmt.Println(err)
		return
	}
	<-done
	server.Shutdown()
	// Output: to ada under a token: true
}
