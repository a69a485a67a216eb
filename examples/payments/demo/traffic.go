package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/queue"
)

// Shares of the payments that are submitted more than once, rounded up.
const (
	againShare     = 0.15 // by a second producer, to the same queue
	elsewhereShare = 0.05 // by the first one, to the second queue
)

// Producer puts payments on a queue. It is safe for concurrent use.
type Producer interface {
	// Ready waits until there are locks to be had. If that is not at once, say hears
	// why.
	Ready(ctx context.Context, say func(string)) error
	// Submit returns an error that is [queue.ErrDuplicate] when the queue has the
	// payment already.
	Submit(ctx context.Context, p input.Payment, queue string) error
	Close() error
}

// traffic is what the producers do, and what the queue answered them.
type traffic struct {
	payments      []input.Payment // as they came in, repeated lines included
	again         map[string]bool // by ID
	elsewhere     map[string]bool
	first, second string // queues
	pause         time.Duration
	submitted     atomic.Int64
	refused       atomic.Int64
	resubmit      chan input.Payment
	unique        int
}

func newTraffic(payments []input.Payment, s Settings, pause time.Duration, seed uint64) *traffic {
	t := &traffic{payments: payments, first: s.Queue, second: s.SecondQueue, pause: pause}
	unique := distinct(payments)
	t.unique = len(unique)
	random := rand.New(rand.NewPCG(seed, 1))
	t.again = choose(random, unique, againShare)
	t.elsewhere = choose(random, unique, elsewhereShare)
	t.resubmit = make(chan input.Payment, len(t.again))
	return t
}

func distinct(payments []input.Payment) []input.Payment {
	seen := make(map[string]bool, len(payments))
	var unique []input.Payment
	for _, p := range payments {
		if !seen[p.ID] {
			seen[p.ID] = true
			unique = append(unique, p)
		}
	}
	return unique
}

func choose(random *rand.Rand, from []input.Payment, share float64) map[string]bool {
	n := int(float64(len(from))*share + 0.999999)
	chosen := make(map[string]bool, n)
	for _, i := range random.Perm(len(from))[:n] {
		chosen[from[i].ID] = true
	}
	return chosen
}

// run submits everything and returns the first error that is no duplicate.
func (t *traffic) run(ctx context.Context, to Producer) error {
	producers, ctx := errgroup.WithContext(ctx)
	producers.Go(func() error {
		defer close(t.resubmit)
		return t.submitAll(ctx, to)
	})
	producers.Go(func() error {
		for p := range t.resubmit {
			if err := t.submit(ctx, to, p, t.first); err != nil {
				return err
			}
		}
		return nil
	})
	return producers.Wait()
}

// submitAll is the first producer. The second queue gets its payments back to
// back with the first, so that both copies are taken at about the same time.
func (t *traffic) submitAll(ctx context.Context, to Producer) error {
	began := time.Now()
	told := make(map[string]bool)
	for i, p := range t.payments {
		if err := until(ctx, began.Add(time.Duration(i)*t.pause)); err != nil {
			return err
		}
		if err := t.submit(ctx, to, p, t.first); err != nil {
			return err
		}
		if told[p.ID] {
			continue
		}
		told[p.ID] = true
		if t.elsewhere[p.ID] {
			if err := t.submit(ctx, to, p, t.second); err != nil {
				return err
			}
		}
		if t.again[p.ID] {
			t.resubmit <- p // has room for all of them
		}
	}
	return nil
}

// tries is how often a payment is submitted before its producer gives up.
const tries = 3

// submit tries again after an error, as the job's ID allows: whether the payment
// was queued by then or not, it is queued once. Only the first answer tells a
// duplicate; a later one may have met what the first try queued.
func (t *traffic) submit(ctx context.Context, to Producer, p input.Payment, on string) error {
	var err error
	for try := range tries {
		err = to.Submit(ctx, p, on)
		duplicate := errors.Is(err, queue.ErrDuplicate)
		if err == nil || duplicate {
			t.submitted.Add(1)
			if duplicate && try == 0 {
				t.refused.Add(1)
			}
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("submit payment: %w", err)
}

// until waits for a moment, not for a span, so that what work takes between two
// payments does not lower the rate.
func until(ctx context.Context, moment time.Time) error {
	wait := time.Until(moment)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
