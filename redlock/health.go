package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Beat tells that the holder's work makes progress: for claims with a Stall. It
// costs a reading of the clock.
func (s *Lease) Beat() { s.beaten.Store(int64(s.l.cfg.Clock.Now())) }

// overdue is why the lease may not go on, though its nodes would keep it, or "".
func (s *Lease) overdue(now time.Duration) Why {
	c := &s.try.claim
	switch {
	case c.MaxHold > 0 && now-s.acquired >= c.MaxHold:
		return LostMaxHold
	case c.Stall > 0 && now-time.Duration(s.beaten.Load()) >= c.Stall:
		return LostStalled
	}
	return ""
}

// renewIfHealthy extends a lease whose holder says that it is well. Who is asked
// may block: it has a goroutine, and a third of the TTL.
func (s *Lease) renewIfHealthy() {
	if s.try.claim.Healthy == nil {
		s.renewNow()
		return
	}
	if s.l.enter() != nil {
		return
	}
	s.l.work.Go(func() {
		defer s.l.leave()
		err := s.ask()
		switch {
		case s.Err() != nil, s.isSettled(): // its answer is no news any more
		case err != nil:
			s.lose(LostUnhealthy, err)
		default:
			s.renewNow()
		}
	})
}

var errNoAnswer = errors.New("the health check did not answer")

// ask returns what Healthy says. One that does not return is left behind: it is
// the user's goroutine, and the user's leak.
func (s *Lease) ask() error {
	// The lease outlives the context that it was acquired with.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(s.ctx), s.try.claim.TTL/3, errNoAnswer)
	defer cancel()
	said := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				said <- fmt.Errorf("the health check panicked: %v", p)
			}
		}()
		said <- s.try.claim.Healthy(ctx)
	}()
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
