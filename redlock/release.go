package redlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// Outcome is how a release ended.
type Outcome string

const (
	Released Outcome = "released" // it was ours, and on a majority it is no more
	Expired  Outcome = "expired"  // it was not ours any more: too late, or taken
	Unknown  Outcome = "unknown"  // too few nodes answered; it runs out within a TTL
)

// Release ends the lease's context and frees the keys on all nodes. It returns
// when a majority has told, within about the node timeout, and keeps telling the
// others for up to a TTL. The end of ctx does not stop it. A second call returns
// the first one's outcome; after [Unknown] it asks again.
//
// The error is nil unless the outcome is [Unknown]; then it Is [ErrUnknown] and
// has every node's answer, or [ErrClosed] after Close.
func (s *Lease) Release(ctx context.Context) (Outcome, error) {
	if err := s.l.enter(); err != nil {
		return Unknown, err
	}
	defer s.l.leave()
	s.settling.Lock()
	defer s.settling.Unlock()
	if s.last != nil && s.last.outcome != Unknown {
		return s.last.outcome, nil
	}
	now, late := s.settle()
	if s.last == nil {
		s.last = &settlement{mode: modeRelease}
	}
	said := s.conclude(now)
	if late {
		s.last.outcome = Expired
		return Expired, nil
	}
	end := s.l.signals.releasing(ctx, s)
	s.last.outcome, s.last.err = s.l.releaseOutcome(said)
	end(s.last.outcome)
	return s.last.outcome, s.last.err
}

// Finish writes the completion record of the claim's Record key and releases, in
// one script per node. r.Hash may have up to 128 bytes and no colon, r.Result up
// to 64 KiB, of any bytes; Token and At are the lease's own. retention is 1 s to
// 10 years; 0 is Config.Retention.
//
// nil means that a majority has committed it: no later claim with the same
// Record is granted while a majority keeps it. [ErrStale] means that the lease
// was not ours any more and that no majority has the record; where a minority has
// it, the next attempt that sees it completes it. [ErrUnknown] means that too few
// nodes answered within the TTL. Whatever it returns but a field error and
// [ErrClosed], the lease is released. Like Release it is not stopped by ctx and
// may be said twice; after [ErrUnknown] it asks again, with the first call's
// record.
func (s *Lease) Finish(ctx context.Context, r holdfast.Record, retention time.Duration) error {
	return s.finish(ctx, kindDone, r, retention)
}

func (s *Lease) finish(ctx context.Context, kind string, r holdfast.Record, retention time.Duration) error {
	if err := checkRecord(s.try.claim, r, retention); err != nil {
		return err
	}
	if err := s.l.enter(); err != nil {
		return err
	}
	defer s.l.leave()
	s.settling.Lock()
	defer s.settling.Unlock()
	switch {
	case s.last == nil:
		now := time.UnixMicro(s.l.clocks.nodeNow())
		r.Token, r.At = s.token, now
		retention = cmp.Or(retention, s.l.cfg.Retention)
		c := completion{kind: kind, record: r, until: now.Add(retention).UnixMilli()}
		s.last = &settlement{mode: modeFinish, done: c.text(), retention: retention}
	case s.last.mode != modeFinish:
		return fmt.Errorf("redlock: finish %q: released before: %w", s.try.claim.Record, ErrStale)
	case !errors.Is(s.last.err, ErrUnknown):
		return s.last.err
	}
	now, _ := s.settle()
	end := s.l.signals.releasing(ctx, s)
	s.last.outcome, s.last.err = s.l.finishOutcome(s.conclude(now), s.try.claim.Record)
	end(s.last.outcome)
	return s.last.err
}

// conclude tells the nodes how the tenure ended.
func (s *Lease) conclude(now time.Duration) *saying { return s.try.settle(*s.last, now) }

// settle ends the holder's side, before the nodes are told: nothing of it may go
// on when the next holder begins. It reports when that was, and whether validity was
// over.
func (s *Lease) settle() (now time.Duration, late bool) {
	now = s.l.cfg.Clock.Now()
	if s.end() <= now {
		s.lose(LostExpired)
	}
	s.mu.Lock()
	first := !s.settled
	s.settled = true
	late = s.lost != nil
	s.mu.Unlock()
	s.cancel(nil)
	s.l.keeper.remove(s)
	if first && !late {
		s.l.signals.held(s, "acquired")
	}
	return now, late
}

// released is certain when a majority has told, or every node has spoken once.
func (l *Locker) released(s *saying) bool {
	return s.count(codeOK) >= l.need || l.notOurs(s) || every(s.spoke)
}

// notOurs reports whether no majority can have been ours any more.
func (l *Locker) notOurs(s *saying) bool {
	return s.count(codeNone)+s.count(codeStale) > len(l.nodes)-l.need
}

// releaseOutcome waits for a release.
func (l *Locker) releaseOutcome(s *saying) (Outcome, error) {
	<-s.over
	switch {
	case s.count(codeOK) >= l.need:
		return Released, nil
	case l.notOurs(s):
		return Expired, nil
	case s.answered() >= l.need:
		return Released, nil // some had missed our grant; on a majority nothing of ours is left
	}
	return Unknown, fmt.Errorf("%w: %w", ErrUnknown, l.noQuorum("release", s.votes()))
}

// finished is certain when the record is committed or refused for good, or no
// node has more to say.
func (l *Locker) finished(s *saying) bool {
	return s.count(codeOK) >= l.need || s.count(codeStale) > len(l.nodes)-l.need || every(s.final)
}

// finishOutcome waits for a finish.
func (l *Locker) finishOutcome(s *saying, key string) (Outcome, error) {
	<-s.over
	switch {
	case s.count(codeOK) >= l.need:
		return Released, nil
	case s.count(codeStale) > len(l.nodes)-l.need:
		return Expired, fmt.Errorf("redlock: finish %q: %w", key, ErrStale)
	}
	return Unknown, fmt.Errorf("%w: %w", ErrUnknown, l.noQuorum("finish", s.votes()))
}
