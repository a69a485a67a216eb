package demo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
)

// run is the whole example, from the servers to the audit. Whatever it starts
// and creates is gone when it returns.
func run(ctx context.Context, program Program, o Options, payments []input.Payment, stderr io.Writer) (*Outcome, error) {
	s := &stage{
		program: program, options: o, settings: newSettings(o), stderr: stderr,
		payments: payments, unique: distinct(payments),
	}
	defer s.strike()
	if err := s.build(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "payments: %d payments on %d accounts, %d workers, seed %d\n", len(s.unique), accounts(s.unique), o.Workers, o.Seed)
	shift := &shift{
		workers: s.workers, bank: s.bank, queue: newBacklog(s.servers.queue, s.settings),
		traffic: newTraffic(s.payments, s.settings, o.pause(), o.Seed),
	}
	if err := shift.work(ctx, s.producer, newProgress(stderr, len(s.unique))); err != nil {
		return nil, err
	}
	// The workers' last counts are in, and the last charge is in the book, once
	// both are closed.
	if err := errors.Join(s.workers.Close(), s.closeBank()); err != nil {
		return nil, err
	}
	return shift.outcome(ctx, s.ledger, s.unique)
}

func accounts(unique []input.Payment) int {
	ids := make(map[string]bool)
	for _, p := range unique {
		ids[p.Account] = true
	}
	return len(ids)
}
