package redlock

import (
	"math"
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
	tick   time.Duration // that the shortest of the leases needs
	closed bool

	kick chan struct{} // the tick became shorter, or began
	done chan struct{}
	loop sync.WaitGroup
}

const longestTick = 50 * time.Millisecond

func newKeeper(clock Clock) *keeper {
	k := &keeper{clock: clock, leases: map[*Lease]struct{}{}, tick: math.MaxInt64, kick: make(chan struct{}, 1), done: make(chan struct{})}
	k.loop.Go(k.run)
	return k
}

func (k *keeper) run() {
	timer := time.NewTimer(longestTick)
	defer timer.Stop()
	var due []*Lease
	for {
		var tick time.Duration
		due, tick = k.look(due[:0])
		for _, s := range due {
			s.act(k.clock.Now(), tick)
		}
		clear(due)
		next := timer.C
		if tick == math.MaxInt64 {
			next = nil // nothing is held
		}
		timer.Reset(tick)
		select {
		case <-next:
		case <-k.kick:
		case <-k.done:
			return
		}
	}
}

// look finds the leases for which something is due, and the tick that the
// shortest of all of them needs.
func (k *keeper) look(due []*Lease) ([]*Lease, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, before := k.clock.Now(), min(k.tick, longestTick)
	k.tick = math.MaxInt64
	for s := range k.leases {
		k.tick = min(k.tick, longestTick, s.try.claim.TTL/20)
		if s.due(now, before) {
			due = append(due, s)
		}
	}
	return due, k.tick
}

// add reports false when the keeper is closed: nobody would watch the lease.
func (k *keeper) add(s *Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.leases[s] = struct{}{}
	if tick := min(longestTick, s.try.claim.TTL/20); tick < k.tick {
		k.tick = tick
		select {
		case k.kick <- struct{}{}:
		default:
		}
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
	var left []*Lease
	for s := range k.leases {
		left = append(left, s)
	}
	k.mu.Unlock()
	k.loop.Wait()
	for _, s := range left {
		s.lose(LostClosed)
	}
}

// due reports whether act has something to do.
func (s *Lease) due(now, tick time.Duration) bool {
	return now+tick >= s.end() || now >= time.Duration(s.renew.Load()) || s.overdue(now) != ""
}

// act cancels while the handler can still be told in time, and extends before that
// becomes close.
func (s *Lease) act(now, tick time.Duration) {
	if now+tick >= s.end() {
		s.lose(LostExpired)
		return
	}
	if why := s.overdue(now); why != "" {
		s.lose(why)
		return
	}
	// While a round is under way the next is never due: its end sets the time.
	if at := s.renew.Load(); now >= time.Duration(at) && s.renew.CompareAndSwap(at, math.MaxInt64) {
		s.renewIfHealthy()
	}
}
