package main

import (
	"context"
	"log"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/worker"
)

type Charge struct{ ID string }

func (Charge) Kind() string    { return "charge" }
func (c Charge) JobID() string { return c.ID } // the idempotency key

func main() {
	fleet := holdfast.Must(embedded.Start(3)) // a queue Redis and three lock nodes, in this process
	locker := holdfast.Must(redlock.New(redlock.Config{Nodes: redlock.URLs(fleet.Locks()...), Ungated: true}))
	jobs := holdfast.Must(queue.New(queue.Config{Redis: fleet}))
	for _, name := range []string{"east", "west"} { // two workers, each with a queue of its own, and one job in both
		w := holdfast.Must(worker.New(worker.Config{Redis: fleet, Queues: map[string]int{name: 1}}))
		worker.Handle(w, func(ctx context.Context, c Charge) error {
			log.Println(name, "charges", c.ID, "under token", holdfast.Token(ctx))
			return nil
		}, lock.Middleware(locker))
		holdfast.Must(jobs.Enqueue(context.Background(), Charge{ID: "ch_1"}, queue.On(name)))
		go func() { log.Fatal(w.Run(context.Background())) }()
	}
	<-time.After(3 * time.Second) // the loser meets the lock and comes again after a second, or it comes late: it finds the job done
}
