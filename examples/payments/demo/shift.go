package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfastjobs/holdfast/examples/payments/fleet"
	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
)

const (
	lookEvery = 100 * time.Millisecond
	// stallTime is how long nothing may get done before the run gives up.
	stallTime = 2 * time.Minute
)

// The workers' metrics that the outcome quotes.
const (
	metricDuplicates  = "holdfast.job.duplicates"
	metricContentions = "holdfast.lock.contentions"
)

// shift is the time in which payments come in and are worked off.
type shift struct {
	workers  *fleet.Fleet
	bank     *provider.Server
	queue    *backlog
	traffic  *traffic
	restarts int
}

var errInterrupted = errors.New("interrupted")

// work returns once everything was submitted, a worker was restarted, and no
// queue has a job left that is not done or archived.
func (s *shift) work(ctx context.Context, producer Producer, p progress) error {
	defer p.end()
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	tasks, inner := errgroup.WithContext(ctx)
	tasks.Go(func() error { return s.traffic.run(inner, producer) })
	tasks.Go(func() error { return s.restart(inner) })
	finished := make(chan error, 1)
	go func() { finished <- tasks.Wait() }()
	busy := true
	defer func() {
		cancel()
		_ = tasks.Wait() // before the fleet and the producer are closed
	}()

	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	stall := newStall()
	for {
		select {
		case <-outer.Done():
			return errInterrupted
		case err := <-s.workers.Died():
			if outer.Err() != nil {
				return errInterrupted // a signal to the whole group reached both
			}
			return err
		case err := <-finished:
			if busy = false; err != nil {
				if outer.Err() != nil {
					return errInterrupted
				}
				return err
			}
			finished = nil
		case <-tick.C:
			left, err := s.queue.look(ctx)
			if err != nil {
				return err
			}
			if !busy && left.open() == 0 {
				return nil
			}
			now := s.state(left)
			p.show(now)
			if err := stall.check(now, left); err != nil {
				return err
			}
		}
	}
}

// restart replaces a worker in mid-run, as a deploy does: once half of the
// payments are charged.
func (s *shift) restart(ctx context.Context) error {
	tick := time.NewTicker(lookEvery / 5)
	defer tick.Stop()
	for 2*s.bank.Book.Keys() < s.traffic.unique {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := s.workers.Restart(ctx, 0); err != nil {
		return err
	}
	s.restarts++
	return nil
}

func (s *shift) state(left jobs) state {
	return state{
		charged:   int64(s.bank.Book.Keys()),
		contended: s.workers.Count(metricContentions),
		skipped:   s.workers.Count(metricDuplicates),
		waiting:   left.waiting, retrying: left.retrying,
	}
}

// outcome comes after the workers and the provider are closed.
func (s *shift) outcome(ctx context.Context, db *ledger.DB, unique []input.Payment) (*Outcome, error) {
	lines, err := ledger.Lines(ctx, db)
	if err != nil {
		return nil, err
	}
	left, err := s.queue.look(ctx)
	if err != nil {
		return nil, err
	}
	found := examine(unique, s.bank.Book.Charges(), lines)
	if left.archived > 0 {
		found.findf("archived: %d jobs", left.archived)
	}
	return &Outcome{
		Submitted:          s.traffic.submitted.Load(),
		Unique:             len(unique),
		ChargedOnce:        found.once,
		ChargedTwice:       found.twice,
		Lost:               found.lost,
		UnbalancedAccounts: found.unbalanced,
		DuplicatesRefused:  s.traffic.refused.Load(),
		DuplicatesSkipped:  s.workers.Count(metricDuplicates),
		Contended:          s.workers.Count(metricContentions),
		ProviderCalls:      s.bank.Calls(),
		Restarts:           s.restarts,
		findings:           found.findings,
	}, nil
}

// stall notices that nothing gets done.
type stall struct {
	last  state
	since time.Time
}

func newStall() *stall { return &stall{since: time.Now()} }

func (s *stall) check(now state, left jobs) error {
	if now != s.last {
		s.last, s.since = now, time.Now()
		return nil
	}
	if time.Since(s.since) < stallTime {
		return nil
	}
	return fmt.Errorf("nothing got done for %v: %d jobs wait, %d are in the retry set, %d are active", stallTime, left.waiting, left.retrying, left.active)
}
