package redlock

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// clocks is what is known of the nodes' clocks, and who of them has a vote.
//
// The holder of a lease trusts that a node keeps a grant for TTL less the margin,
// by the holder's clock. A node whose clock steps forward forgets it sooner; one
// whose clock is wrong will be stepped. Neither is asked who holds a lock, until
// every grant that it may have forgotten has run out.
type clocks struct {
	clock  Clock
	need   int
	memory time.Duration // MaxTTL: no grant outlives it

	mu    sync.Mutex
	known atomic.Pointer[[]offset] // by node; replaced as a whole
}

// offset bounds a node's time minus ours, at a time of ours.
type offset struct {
	heard     bool
	low, high time.Duration
	at        time.Duration
	steps     []jump // within the memory
}

// jump is a step of a node's clock.
type jump struct{ at, by time.Duration }

// drift is how far two clocks that do not step run apart in d: 100 ppm.
func drift(d time.Duration) time.Duration { return d / 10_000 }

// leastStep is half of the least margin: a smaller step hurts no lease.
const leastStep = 10 * time.Millisecond

func newClocks(clock Clock, nodes int, memory time.Duration) *clocks {
	c := &clocks{clock: clock, need: nodes/2 + 1, memory: memory}
	known := make([]offset, nodes)
	c.known.Store(&known)
	return c
}

// observe learns from a reading that the node took between sent and received. The
// offset lies in [reading - received, reading - sent]. What was known before
// narrows it, after it has drifted for the time between; where the two exclude
// each other, the clock has stepped.
func (c *clocks) observe(node int, sent, received time.Duration, micros int64) {
	reading := time.Duration(micros) * time.Microsecond
	c.mu.Lock()
	defer c.mu.Unlock()
	known := slices.Clone(*c.known.Load())
	o := known[node]
	next := offset{heard: true, low: reading - received, high: reading + time.Microsecond - sent, at: received}
	if o.heard {
		low, high := o.now(received)
		gap := max(next.low-high, low-next.high)
		for _, s := range o.steps {
			if received-s.at < c.memory && (gap <= leastStep || s.by > gap) {
				next.steps = append(next.steps, s)
			}
		}
		switch {
		case gap <= 0:
			next.low, next.high = max(next.low, low), min(next.high, high)
		case gap > leastStep:
			next.steps = append(next.steps, jump{at: received, by: gap})
		}
	}
	known[node] = next
	c.known.Store(&known)
}

// now is what the bounds have widened to.
func (o offset) now(now time.Duration) (low, high time.Duration) {
	w := drift(now - o.at)
	return o.low - w, o.high + w
}

func (o offset) middle() time.Duration { return o.low + (o.high-o.low)/2 }

// votes reports whether the node's grants and extensions count for a lease with
// this margin: its clock has not stepped by more than half of that for as long as
// a grant may live, and it agrees with a majority, if any majority agrees. A node
// that was never heard has nothing against it.
func (c *clocks) votes(node int, margin, now time.Duration) bool {
	known := *c.known.Load()
	if !known[node].heard {
		return true
	}
	for _, s := range known[node].steps {
		if s.by > margin/2 && now-s.at < c.memory {
			return false
		}
	}
	return c.agrees(known, node, margin, now)
}

// agrees is Marzullo's: widen what is known of each clock by half the margin, and
// look for the points that a majority covers. If the node covers one, it lies
// within the margin of a majority. It is enough to look where an interval begins.
func (c *clocks) agrees(known []offset, node int, margin, now time.Duration) bool {
	majority := false
	for _, p := range known {
		if point, _ := p.now(now); p.heard && c.covered(known, point-margin/2, margin, now) {
			majority = true
			if known[node].covers(point-margin/2, margin, now) {
				return true
			}
		}
	}
	return !majority
}

// agreed reports whether a majority of clocks is known that agree: only then is
// one that is off found out.
func (c *clocks) agreed(margin, now time.Duration) bool {
	known := *c.known.Load()
	for _, p := range known {
		if point, _ := p.now(now); p.heard && c.covered(known, point-margin/2, margin, now) {
			return true
		}
	}
	return false
}

func (c *clocks) covered(known []offset, point, margin, now time.Duration) bool {
	n := 0
	for _, o := range known {
		if o.covers(point, margin, now) {
			n++
		}
	}
	return n >= c.need
}

func (o offset) covers(point, margin, now time.Duration) bool {
	low, high := o.now(now)
	return o.heard && low-margin/2 <= point && point <= high+margin/2
}

// nodeNow is the nodes' time in microseconds.
func (c *clocks) nodeNow() int64 { return c.nodesAt(c.clock.Now()) }

// nodesAt is the nodes' time, in microseconds, at a time of ours: that plus the
// median of what is known of theirs. It is 0 before any node told.
func (c *clocks) nodesAt(now time.Duration) int64 {
	ahead := make([]time.Duration, 0, 7)
	for _, o := range *c.known.Load() {
		if o.heard {
			ahead = append(ahead, o.middle())
		}
	}
	if len(ahead) == 0 {
		return 0
	}
	slices.Sort(ahead)
	return (now + ahead[len(ahead)/2]).Microseconds()
}

// on is the earliest that the node's clock may show at a time of ours, as known
// now, in microseconds; 0 when nothing is known of it.
func (c *clocks) on(node int, at, now time.Duration) int64 {
	o := (*c.known.Load())[node]
	if !o.heard {
		return 0
	}
	low, _ := o.now(now)
	return (at + low).Microseconds()
}
