package redlock

import (
	"context"
	"errors"
)

// extension asks every node once. Answers to it arm the lease as they come, also
// those that come after the round was decided.
func (s *Lease) extension() <-chan vote {
	a, l := s.try, s.l
	keys := []string{l.markerKey()}
	for _, k := range a.claim.Keys {
		keys = append(keys, l.recordKey(k))
	}
	args := []any{a.nonce, s.token, micros(a.claim.TTL), 0}
	votes := make(chan vote, len(l.nodes))
	for i, n := range l.nodes {
		l.work.Go(func() {
			v := vote{node: i, sent: l.cfg.Clock.Now()}
			v.reply, v.err = n.run(l.calls, l.scripts.extend, keys, args...)
			if v.err == nil && (v.reply.code == codeOK || v.reply.code == codeRepaired) {
				s.confirm(i, v.sent)
			}
			votes <- v
		})
	}
	return votes
}

var errNotOurs = errors.New("redlock: a majority says that the lease is not ours")

// round is one extension, counted: nil when a majority holds the lease for us,
// errNotOurs when a majority no longer can, else why it is unknown.
func (s *Lease) round(ctx context.Context) error {
	notOurs := false
	err := s.l.collect(ctx, "check", s.extension(), func(seen []vote, _ int) bool {
		notOurs = count(seen, codeLost) > len(s.l.nodes)-s.l.need
		return notOurs || count(seen, codeOK)+count(seen, codeRepaired) >= s.l.need
	})
	if notOurs {
		return errNotOurs
	}
	return err
}

// renew is one round of the keeper's. After a failed one the next tick starts
// another: silence is no loss until validity ends.
func (s *Lease) renew() {
	err := s.round(s.l.open)
	s.l.signals.renewed(s, err)
	if errors.Is(err, errNotOurs) {
		s.lose(LostTaken)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewing = false
	if err == nil {
		s.renewAt = s.l.cfg.Clock.Now() + s.renewAfter()
	}
}

// Check asks the nodes, in one round trip, whether a majority still holds the
// lease for us: for use right before a step that cannot be taken back. nil is
// yes, at the time of asking. Errors: [LostError] when it is lost; [ErrStale]
// after it was settled; [NoQuorumError] when too few nodes answered to know;
// [ErrClosed]; and ctx's own.
func (s *Lease) Check(ctx context.Context) error {
	if err := s.l.enter(); err != nil {
		return err
	}
	defer s.l.leave()
	if s.isSettled() {
		return ErrStale
	}
	if s.end() <= s.l.cfg.Clock.Now() {
		s.lose(LostExpired)
	}
	if err := s.Err(); err != nil {
		return err
	}
	err := s.round(ctx)
	if errors.Is(err, errNotOurs) {
		s.lose(LostTaken)
	} else if err != nil {
		return err
	}
	if s.isSettled() {
		return ErrStale
	}
	return s.Err()
}

func (s *Lease) isSettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
}
