package redlock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// round is one extension on all nodes, counted as the answers come.
type round struct {
	lease *Lease
	told  func(*round) // once, when it is decided; by a node's sender

	mu      sync.Mutex
	votes   []vote
	decided bool
}

// extend starts a round. Answers arm the lease as they come, also those that come
// after it was decided. A node that has lost the grant may set it again while the
// tenure is valid: told is until when, in the node's own time, and at the least.
func (s *Lease) extend(told func(*round)) {
	a, l := s.try, s.l
	r := &round{lease: s, told: told, votes: make([]vote, 0, len(l.nodes))}
	held := len(a.claim.Keys)
	args := []any{a.nonce, s.token, micros(a.claim.TTL)}
	end := s.end()
	requests, now := make([]request, len(l.nodes)), l.cfg.Clock.Now()
	for i, n := range l.nodes {
		requests[i] = request{
			verb: verbExtend, held: held, keys: a.keys[:held], args: append(slices.Clip(args), l.clocks.on(i, end, now)),
			answer: r.hear,
		}
		n.send(&requests[i])
	}
}

// hear counts a vote.
func (r *round) hear(v vote, _ bool) {
	s := r.lease
	v.mute = v.err == nil && !s.l.clocks.votes(v.node, margin(s.try.claim.TTL), v.heard)
	if v.yes(codeOK) || v.yes(codeRepaired) {
		s.confirm(v.node, v.sent)
	}
	r.mu.Lock()
	r.votes = append(r.votes, v)
	over := len(r.votes) == len(s.l.nodes) || r.kept() || r.notOurs() != ""
	first := over && !r.decided
	r.decided = r.decided || over
	r.mu.Unlock()
	if first {
		r.told(r)
	}
}

// kept reports whether a majority holds the lease for us. It is called with mu
// held, as are the two below.
func (r *round) kept() bool {
	ok := 0
	for _, v := range r.votes {
		if v.yes(codeOK) || v.yes(codeRepaired) {
			ok++
		}
	}
	return ok >= r.lease.l.need
}

// notOurs is why a majority can no longer be ours, or "". That a node has lost us
// counts whatever its clock shows.
func (r *round) notOurs() Why {
	lost, released := 0, 0
	for _, v := range r.votes {
		if v.said(codeLost) {
			lost++
			if v.reply.number(0) == r.lease.token {
				released++
			}
		}
	}
	switch l := r.lease.l; {
	case lost <= len(l.nodes)-l.need:
		return ""
	case released == lost:
		return LostReleased
	}
	return LostTaken
}

// result is nil when a majority holds the lease for us; else why it was lost, or
// why that is unknown.
func (r *round) result() (Why, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why := r.notOurs(); why != "" || r.kept() {
		return why, nil
	}
	return "", r.lease.l.nobody("check", r.votes)
}

// renewNow is one round of the keeper's. After a failed one the next tick starts
// another: silence is no loss until validity ends.
func (s *Lease) renewNow() {
	if s.lapsed.Load() || s.l.enter() != nil {
		return
	}
	s.extend(func(r *round) {
		defer s.l.leave()
		why, err := r.result()
		s.l.signals.renewed(s, why, err)
		if why != "" {
			s.lose(why)
		}
		next := s.l.cfg.Clock.Now()
		if err == nil {
			next += s.renewAfter(int(next))
		}
		s.renew.Store(int64(next))
	})
}

// renewAfter is a third of the TTL, give or take a tenth of that, so that leases
// taken together do not renew together for ever.
func (s *Lease) renewAfter(round int) time.Duration {
	third := s.try.claim.TTL / 3
	return third*9/10 + jitter(s.try.nonce, round, third/5)
}

// Check asks the nodes, in one round trip, whether a majority still holds the
// lease for us: for use right before a step that cannot be taken back. nil is
// yes, at the time of asking. Errors: [LostError] when it is lost; [ErrStale]
// after it was settled or let lapse; [NoQuorumError] when too few nodes answered to know;
// [ConfigError]; [ErrClosed]; and ctx's own.
func (s *Lease) Check(ctx context.Context) error {
	if err := s.l.enter(); err != nil {
		return err
	}
	defer s.l.leave()
	if s.lapsed.Load() || s.isSettled() {
		return ErrStale
	}
	if s.end() <= s.l.cfg.Clock.Now() {
		s.lose(LostExpired)
	}
	if err := s.Err(); err != nil {
		return err
	}
	over := make(chan *round, 1)
	s.extend(func(r *round) { over <- r })
	select {
	case r := <-over:
		why, err := r.result()
		if err != nil {
			return err
		}
		if why != "" {
			s.lose(why)
		} else if s.end() <= s.l.cfg.Clock.Now() { // yes, but for a time that is over
			s.lose(LostExpired)
		}
	case <-ctx.Done():
		return ended(ctx, "check")
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
