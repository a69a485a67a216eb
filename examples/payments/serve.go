package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/examples/payments/demo"
	"github.com/holdfastjobs/holdfast/examples/payments/fleet"
	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/examples/payments/telemetry"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
)

const (
	reportEvery = 200 * time.Millisecond // a worker process tells its counts
	patience    = 15 * time.Second       // with lock nodes that are not ready
)

// serve is the life of one worker process.
func serve(ctx context.Context, setup []byte, report *fleet.Reporter) (err error) {
	var s demo.Settings
	if err := json.Unmarshal(setup, &s); err != nil {
		return fmt.Errorf("payments: read set-up: %w", err)
	}
	tel, err := telemetry.Start(ctx, "payments", strconv.Itoa(os.Getpid()), s.OTLP)
	if err != nil {
		return err
	}
	defer tel.Close()
	db, err := ledger.Open(ctx, s.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	store := Store{DB: db.DB, Provider: provider.NewClient(s.Provider)}
	defer store.Provider.Close()

	var around []holdfast.Middleware
	if !s.Unsafe {
		locker, err := newLocker(s.Locks, s.Namespace, s.Ungated, tel.Telemetry)
		if err != nil {
			return err
		}
		defer locker.Close()
		around = append(around, locked(locker))
	}
	redis, err := asynq.ParseRedisURI(s.Redis)
	if err != nil {
		return err
	}
	w, err := newWorker(redis, map[string]int{s.Queue: 1, s.SecondQueue: 1}, s.Concurrency, store, tel.Telemetry, around...)
	if err != nil {
		return err
	}
	stop := reporting(tel, report)
	report.Ready()
	err = w.Run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = nil // told to end before it had begun
	}
	return errors.Join(err, stop())
}

// reporting tells the parent the process's own metrics, now and then and once
// more when the function it returns is called.
func reporting(tel *telemetry.Telemetry, report *fleet.Reporter) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	tell := func() error {
		counts, err := tel.Counters(context.Background())
		if err == nil {
			report.Count(counts)
		}
		return err
	}
	var teller sync.WaitGroup
	teller.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = tell() // the last one says it
			case <-ctx.Done():
				return
			}
		}
	})
	return func() error {
		cancel()
		teller.Wait()
		return tell()
	}
}

// producer puts the demo's payments on the queue as jobs.
type producer struct {
	queue  *queue.Client
	locker *redlock.Locker // nil without records
}

func connect(s demo.Settings, t holdfast.Telemetry) (demo.Producer, error) {
	redis, err := asynq.ParseRedisURI(s.Redis)
	if err != nil {
		return nil, err
	}
	if s.Unsafe {
		q, err := newQueue(redis, nil, t)
		return &producer{queue: q}, err
	}
	locker, err := newLocker(s.Locks, s.Namespace, s.Ungated, t)
	if err != nil {
		return nil, err
	}
	q, err := newQueue(redis, locker, t)
	if err != nil {
		return nil, errors.Join(err, locker.Close())
	}
	return &producer{queue: q, locker: locker}, nil
}

// Ready checks the lock nodes, and waits until a majority of them gives locks.
func (p *producer) Ready(ctx context.Context, say func(string)) error {
	if p.locker == nil {
		return nil
	}
	report, err := p.locker.Check(ctx)
	if errors.Is(err, redlock.ErrConfig) {
		return err
	}
	var waits []string
	for _, n := range report.Nodes {
		if n.Quarantine > 0 {
			waits = append(waits, fmt.Sprintf("%s for %.1f s", n.Node, n.Quarantine.Seconds()))
		}
	}
	switch {
	case err != nil: // too few answer, for the moment
		say(fmt.Sprintf("waiting for lock nodes: %v", err))
	case len(waits) > 0:
		say("waiting for lock nodes, which give no lock at first when they are new or have restarted: " + strings.Join(waits, ", "))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.locker.Ready(ctx)
}

func (p *producer) Submit(ctx context.Context, payment input.Payment, on string) error {
	_, err := p.queue.Enqueue(ctx, Charge(payment), queue.On(on))
	return err
}

func (p *producer) Close() error {
	err := p.queue.Close()
	if p.locker != nil {
		err = errors.Join(err, p.locker.Close())
	}
	return err
}
