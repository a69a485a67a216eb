package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Config is what a fleet needs.
type Config struct {
	Workers int
	Setup   any       // given to every process, as JSON
	Folder  string    // removed by the processes when the parent dies; "" is none
	Log     io.Writer // standard error of the processes
	// Grace is how long a process may take to end after SIGTERM before it is
	// killed.
	Grace time.Duration
}

// Fleet is a number of worker processes. It is safe for concurrent use.
type Fleet struct {
	config Config
	line   []byte
	died   chan error

	mu       sync.Mutex
	members  []*process
	past     []*process // those that were replaced: their counts still count
	closed   bool
	watchers sync.WaitGroup
}

// Start starts the processes and waits until all are ready, or returns the first
// error after it has ended them again.
func Start(ctx context.Context, c Config) (*Fleet, error) {
	setup, err := json.Marshal(c.Setup)
	if err != nil {
		return nil, fmt.Errorf("fleet: marshal set-up: %w", err)
	}
	line, err := json.Marshal(setupLine{Folder: c.Folder, Setup: setup})
	if err != nil {
		return nil, fmt.Errorf("fleet: marshal set-up: %w", err)
	}
	f := &Fleet{config: c, line: line, died: make(chan error, 1), members: make([]*process, c.Workers)}
	for i := range f.members {
		if f.members[i], err = start(line, c.Log); err != nil {
			f.members = f.members[:i]
			return nil, errors.Join(err, f.Close())
		}
	}
	for _, p := range f.members {
		if err := await(ctx, p); err != nil {
			_ = f.Close() // the others' errors would only say that they were stopped
			return nil, err
		}
		f.watch(p)
	}
	return f, nil
}

func await(ctx context.Context, p *process) error {
	select {
	case <-p.ready:
		return nil
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("fleet: worker did not get ready: %w", context.Cause(ctx))
	}
}

// watch reports the end of p on died, unless it was stopped.
func (f *Fleet) watch(p *process) {
	f.watchers.Go(func() {
		<-p.ended
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.stopping {
			select {
			case f.died <- p.err:
			default: // one is enough
			}
		}
	})
}

// Died delivers the error of a process that ended without being told to.
func (f *Fleet) Died() <-chan error { return f.died }

// Restart replaces process i as a deploy does: SIGTERM, waits for its end, and
// starts another one, which is ready when Restart returns.
func (f *Fleet) Restart(ctx context.Context, i int) error {
	f.mu.Lock()
	old := f.members[i]
	f.mu.Unlock()
	if err := old.stop(f.config.Grace); err != nil {
		return err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return context.Canceled
	}
	p, err := start(f.line, f.config.Log)
	if err == nil {
		f.past = append(f.past, old)
		f.members[i] = p
	}
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err := await(ctx, p); err != nil {
		return err
	}
	f.watch(p)
	return nil
}

// Count is the sum of a count over all processes that there ever were, as of
// their last reports.
func (f *Fleet) Count(name string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var sum int64
	for _, p := range slices.Concat(f.past, f.members) {
		sum += p.count(name)
	}
	return sum
}

// Close ends all processes and waits for them. Their last reports are in when it
// returns. It returns what went wrong with any of them.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	members := f.members
	f.mu.Unlock()
	errs := make([]error, len(members))
	var stops sync.WaitGroup
	for i, p := range members {
		stops.Go(func() { errs[i] = p.stop(f.config.Grace) })
	}
	stops.Wait()
	f.watchers.Wait()
	return errors.Join(errs...)
}
