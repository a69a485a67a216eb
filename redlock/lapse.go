package redlock

import "time"

// Lapse extends the lease no more, for good: it stands for as long as it does,
// and is then lost as [LostExpired]. It can be settled until then. It is for a
// holder whose work will not end: the keys are free when they have run out, and
// not while it still has them. [Lease.Check], which extends, answers [ErrStale]
// from now on.
func (s *Lease) Lapse() { s.lapsed.Store(true) }

// Left is for how long the keys are surely ours if nothing extends them: 0 when
// the lease is settled, when it has run out, and when it is another's. One that
// was lost for its holder's health, or by the Locker's end, is extended no more
// and stands until it has run out.
func (s *Lease) Left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled {
		return 0
	}
	if s.lost != nil && (s.lost.Why == LostExpired || s.lost.Why == LostTaken || s.lost.Why == LostReleased) {
		return 0
	}
	return max(0, s.end()-s.l.cfg.Clock.Now())
}
