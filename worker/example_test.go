package worker_test

import (
	"context"
	"fmt"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/worker"
)

type Welcome struct {
	Name string `json:"name"`
}

func (Welcome) Kind() string  { return "mail.welcome" }
func (Welcome) JobID() string { return "" }

// A worker also runs the jobs of producers that know nothing of Holdfast.
func Example() {
	fleet := holdfast.Must(embedded.Start(1))
	defer fleet.Close()
	redis := holdfast.Must(asynq.ParseRedisURI(fleet.Queue()))

	producer := asynq.NewClient(redis)
	defer producer.Close()
	holdfast.Must(producer.Enqueue(asynq.NewTask("mail.welcome", []byte(`{"name":"Aiko"}`))))

	w := holdfast.Must(worker.New(worker.Config{Redis: redis}))
	ctx, stop := context.WithCancel(context.Background())
	worker.Handle(w, func(_ context.Context, m Welcome) error {
		fmt.Println("welcome,", m.Name)
		stop()
		return nil
	})
	fmt.Println("drained:", w.Run(ctx))
	// Output:
	// welcome, Aiko
	// drained: <nil>
}
