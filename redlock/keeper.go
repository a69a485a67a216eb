package redlock

import (
	"math/rand/v2"
	"sync"
	"time"
)

// keeper watches all leases of a Locker from one ticker: it ends those whose
// validity runs out and starts the extension of those that are due. It waits for
// no node, so a stuck one cannot hold up a cancellation. It never sleeps longer
// than a tick: Go's timers stand still while the machine is suspended, and a
// long one would fire late by as much.
type keeper struct {
	clock Clock

	mu     sync.Mutex
	leases map[*Lease]struct{}
	closed bool

	kick chan struct{} // something changed: look again
	done chan struct{}
	loop sync.WaitGroup
}

const longestTick = 50 * time.Millisecond

func newKeeper(clock Clock) *keeper {
	k := &keeper{clock: clock, leases: map[*Lease]struct{}{}, kick: make(chan struct{}, 1), done: make(chan struct{})}
	k.loop.Go(k.run)
	return k
}

func (k *keeper) run() {
	for {
		leases, tick := k.held()
		now := k.clock.Now()
		for _, s := range leases {
			s.tick(now, tick)
		}
		var next <-chan time.Time // nil, and for ever, when nothing is held
		timer := time.NewTimer(tick)
		if len(leases) > 0 {
			next = timer.C
		}
		select {
		case <-next:
		case <-k.kick:
		case <-k.done:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// held returns the leases and the tick that the shortest of them needs.
func (k *keeper) held() ([]*Lease, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	leases, tick := make([]*Lease, 0, len(k.leases)), longestTick
	for s := range k.leases {
		leases = append(leases, s)
		tick = min(tick, s.try.claim.TTL/20)
	}
	return leases, tick
}

// add reports false when the keeper is closed: nobody would watch the lease.
func (k *keeper) add(s *Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.leases[s] = struct{}{}
	select {
	case k.kick <- struct{}{}:
	default:
	}
	return true
}

func (k *keeper) remove(s *Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.leases, s)
}

// close ends all leases, and returns when the ticker is gone.
func (k *keeper) close() {
	k.mu.Lock()
	if !k.closed {
		k.closed = true
		close(k.done)
	}
	k.mu.Unlock()
	k.loop.Wait()
	leases, _ := k.held()
	for _, s := range leases {
		s.lose(LostClosed)
	}
}

// tick cancels while the handler can still be told in time, and extends before
// that becomes close.
func (s *Lease) tick(now, tick time.Duration) {
	if now+tick >= s.end() {
		s.lose(LostExpired)
		return
	}
	s.mu.Lock()
	due := !s.renewing && !s.settled && s.lost == nil && now >= s.renewAt
	s.renewing = s.renewing || due
	s.mu.Unlock()
	if due && s.l.enter() == nil {
		s.l.work.Go(func() {
			defer s.l.leave()
			s.renew()
		})
	}
}

// renewAfter is a third of the TTL, give or take a tenth of that, so that leases
// taken together do not renew together for ever.
func (s *Lease) renewAfter() time.Duration {
	third := s.try.claim.TTL / 3
	return third*9/10 + rand.N(third/5)
}
