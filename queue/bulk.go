package queue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfastjobs/holdfast"
)

// Item is one job of [Client.EnqueueAll].
type Item struct {
	Args    holdfast.Args
	Options []Option
}

// Outcome is what [Client.Enqueue] returned for one item.
type Outcome struct {
	Info Info
	Err  error
}

// EnqueueAll enqueues many jobs, [Config].Parallel at a time, and returns the
// outcome of each under its index. It is no transaction, and no item affects
// another: where one fails, even by a panic in its methods, the others are sent
// all the same. Their order in the queue is not defined, nor is which of two
// items with one job ID is the duplicate. When ctx ends, the items not yet sent
// fail with its cause.
func (c *Client) EnqueueAll(ctx context.Context, items []Item) []Outcome {
	outcomes := make([]Outcome, len(items))
	var next atomic.Int64
	var senders sync.WaitGroup
	for range min(c.config.Parallel, len(items)) {
		senders.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
				outcomes[i] = c.outcome(ctx, items[i]) // no other sender has this i, and Wait publishes it
			}
		})
	}
	senders.Wait()
	return outcomes
}

func (c *Client) outcome(ctx context.Context, item Item) (o Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = Outcome{Err: fmt.Errorf("queue: enqueue %T: panic: %v", item.Args, p)}
		}
	}()
	o.Info, o.Err = c.Enqueue(ctx, item.Args, item.Options...)
	return o
}
