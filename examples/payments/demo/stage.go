package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// stage is all that a run stands on.
type stage struct {
	program  Program
	options  Options
	payments []input.Payment // as they come in
	unique   []input.Payment
	stderr   io.Writer
	settings Settings

	telemetry *telemetry.Telemetry
	servers   *servers
	folder    string // for temporary files; "" is none
	ledger    *ledger.DB
	bank      *provider.Server
	closeBank func() error // also writes the book's end; may be called twice
	workers   *fleet.Fleet
	producer  Producer

	undo []func() // what strike does, backwards
}

// build starts everything, each part on those before it.
func (s *stage) build(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		s.buildTelemetry, s.buildServers, s.buildFolder, s.buildLedger, s.buildBank, s.buildWorkers, s.buildProducer,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// strike ends and removes whatever was built.
func (s *stage) strike() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
}

func (s *stage) later(undo func()) { s.undo = append(s.undo, undo) }

func (s *stage) warn(text string) { fmt.Fprintln(s.stderr, "payments:", text) }

func (s *stage) buildTelemetry(ctx context.Context) (err error) {
	s.telemetry, err = telemetry.Start(ctx, "payments-producer", strconv.Itoa(os.Getpid()), s.options.OTLP)
	if err == nil {
		s.later(s.closeTelemetry)
	}
	return err
}

// closeTelemetry tells what a collector missed, and leaves it at that: it is no
// matter of the run.
func (s *stage) closeTelemetry() {
	_ = s.telemetry.Close()
	if err := s.telemetry.Undelivered(); err != nil {
		s.warn(fmt.Sprintf("traces were not delivered to %s: %v", s.options.OTLP, err))
	}
}

func (s *stage) buildServers(ctx context.Context) (err error) {
	if s.servers, err = open(ctx, s.options, &s.settings, s.warn); err != nil {
		return err
	}
	s.later(func() {
		if err := s.servers.clean(context.WithoutCancel(ctx)); err != nil {
			s.warn(fmt.Sprintf("some keys of this run stay on the given Redis: %v", plain(err)))
		}
		s.servers.close()
	})
	return nil
}

func (s *stage) buildFolder(context.Context) (err error) {
	if s.settings.DB = s.options.DB; s.settings.DB != "" {
		return nil
	}
	if s.folder, err = os.MkdirTemp("", "holdfast-payments-"); err != nil {
		return err
	}
	s.later(func() { _ = os.RemoveAll(s.folder) })
	s.settings.DB = filepath.Join(s.folder, "ledger.db")
	return nil
}

func (s *stage) buildLedger(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("no answer within %v", answerTime))
	defer cancel()
	if s.ledger, err = ledger.Open(ctx, s.settings.DB); err != nil {
		return err
	}
	s.later(func() { _ = s.ledger.Close() })
	return ledger.Reset(ctx, s.ledger, openings(s.unique))
}

func (s *stage) buildBank(context.Context) (err error) {
	config := provider.Config{Seed: s.options.Seed, Faults: provider.Usual}
	closeFile := func() error { return nil }
	if s.options.Book != "" {
		file, err := os.Create(s.options.Book)
		if err != nil {
			return fmt.Errorf("-book: %w", err)
		}
		config.Book, closeFile = file, file.Close
	}
	if s.bank, err = provider.Start(config); err != nil {
		return errors.Join(err, closeFile())
	}
	s.settings.Provider = s.bank.URL
	closed := false
	s.closeBank = func() error {
		if closed {
			return nil
		}
		closed = true
		return errors.Join(s.bank.Close(), s.bank.Book.Err(), closeFile())
	}
	s.later(func() { _ = s.closeBank() })
	return nil
}

func (s *stage) buildWorkers(ctx context.Context) (err error) {
	s.workers, err = fleet.Start(ctx, fleet.Config{
		Workers: s.options.Workers, Setup: s.settings, Folder: s.folder, Log: s.stderr, Grace: grace,
	})
	if err == nil {
		s.later(func() { _ = s.workers.Close() })
	}
	return err
}

// buildProducer also waits for the lock nodes: real ones that are new give no lock
// at first.
func (s *stage) buildProducer(ctx context.Context) (err error) {
	if s.producer, err = s.program.Connect(s.settings, s.telemetry.Telemetry); err != nil {
		return err
	}
	s.later(func() { _ = s.producer.Close() })
	return s.producer.Ready(ctx, s.warn)
}
