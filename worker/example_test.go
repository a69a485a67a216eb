package worker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hibiken/asynq"

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
	fleet, err := embedded.Start(1)
	if err != nil {
		log.Fatal(err)
	}
	defer fleet.Close()
	redis, err := asynq.ParseRedisURI(fleet.Queue())
	if err != nil {
		log.Fatal(err)
	}

	producer := asynq.NewClient(redis)
	defer producer.Close()
	if _, err := producer.Enqueue(asynq.NewTask("mail.welcome", []byte(`{"name":"Aiko"}`))); err != nil {
		log.Fatal(err)
	}

	w, err := worker.New(worker.Config{Redis: redis})
	if err != nil {
		log.Fatal(err)
	}
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
