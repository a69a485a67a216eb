package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/holdfastjobs/holdfast/examples/payments/fleet"
	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/examples/payments/telemetry"
)

// grace is how long a worker process may take to finish its jobs.
const grace = 10 * time.Second

// run is the whole example, from the servers to the audit. Whatever it starts
// and creates is gone when it returns, in the reverse order.
func run(ctx context.Context, program Program, o Options, payments []input.Payment, stderr io.Writer) (_ *Outcome, err error) {
	warn := func(text string) { fmt.Fprintln(stderr, "payments:", text) }
	settings := newSettings(o)

	tel, err := telemetry.Start(ctx, "payments-producer", strconv.Itoa(os.Getpid()), o.OTLP)
	if err != nil {
		return nil, err
	}
	defer tel.Close()

	servers, err := open(ctx, o, &settings, warn)
	if err != nil {
		return nil, err
	}
	defer servers.close()
	defer func() {
		if err := servers.clean(context.WithoutCancel(ctx)); err != nil {
			warn(fmt.Sprintf("some keys of this run stay on the given Redis: %v", plain(err)))
		}
	}()

	settings.DB = o.DB
	folder := ""
	if o.DB == "" {
		if folder, err = os.MkdirTemp("", "holdfast-payments-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
		settings.DB = filepath.Join(folder, "ledger.db")
	}
	unique := distinct(payments)
	db, err := openLedger(ctx, settings.DB, unique)
	if err != nil {
		return nil, err
	}
	defer db.Close()

	bank, closeBook, err := startProvider(o)
	if err != nil {
		return nil, err
	}
	defer closeBook()
	settings.Provider = bank.URL

	workers, err := fleet.Start(ctx, fleet.Config{Workers: o.Workers, Setup: settings, Folder: folder, Log: stderr, Grace: grace})
	if err != nil {
		return nil, err
	}
	defer workers.Close()

	producer, err := program.Connect(settings, tel.Telemetry)
	if err != nil {
		return nil, err
	}
	defer producer.Close()

	fmt.Fprintf(stderr, "payments: %d payments on %d accounts, %d workers, seed %d\n", len(unique), accounts(unique), o.Workers, o.Seed)
	shift := &shift{
		workers: workers, bank: bank, queue: newBacklog(servers.queue, settings),
		traffic: newTraffic(payments, settings, o.pause(), o.Seed),
	}
	if err := shift.work(ctx, producer, newProgress(stderr, len(unique))); err != nil {
		return nil, err
	}
	// The workers' last counts are in, and the last charge is in the book, once
	// both are closed.
	if err := errors.Join(workers.Close(), closeBook()); err != nil {
		return nil, err
	}
	return shift.outcome(ctx, db, unique)
}

func openLedger(ctx context.Context, dsn string, unique []input.Payment) (*ledger.DB, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("no answer within %v", answerTime))
	defer cancel()
	db, err := ledger.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := ledger.Reset(ctx, db, openings(unique)); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// startProvider also returns what ends it, which may be called twice.
func startProvider(o Options) (*provider.Server, func() error, error) {
	config := provider.Config{Seed: o.Seed, Faults: provider.Usual}
	closeFile := func() error { return nil }
	if o.Book != "" {
		file, err := os.Create(o.Book)
		if err != nil {
			return nil, nil, err
		}
		config.Book, closeFile = file, file.Close
	}
	bank, err := provider.Start(config)
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	closed := false
	return bank, func() error {
		if closed {
			return nil
		}
		closed = true
		return errors.Join(bank.Close(), bank.Book.Err(), closeFile())
	}, nil
}

func accounts(unique []input.Payment) int {
	ids := make(map[string]bool)
	for _, p := range unique {
		ids[p.Account] = true
	}
	return len(ids)
}
