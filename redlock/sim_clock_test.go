package redlock

import (
	"sync/atomic"
	"time"
)

// simTime is the time of a simulated world: the bubble's, which passes while
// nobody has anything to do, and the jumps in which every process was suspended:
// their clocks counted those, and their timers did not.
type simTime struct {
	start time.Time
	jumps atomic.Int64
}

func (t *simTime) now() time.Duration {
	return time.Since(t.start) + time.Duration(t.jumps.Load())
}

// parts are so many millionths of a time.
func parts(t time.Duration, ppm int) time.Duration {
	return time.Duration(int64(t) / 1_000_000 * int64(ppm))
}

// simClock is a client's: it began anywhere, and drifts.
type simClock struct {
	*simTime
	begin time.Duration
	ppm   int
}

func (c simClock) Now() time.Duration {
	t := c.now()
	return c.begin + t + parts(t, c.ppm)
}

// simWallClock is a node's: it is wrong, drifts, and is set by its administrator.
// Only the scheduler reads and changes it.
type simWallClock struct {
	*simTime
	ahead time.Duration // at since
	since time.Duration
	ppm   int
}

func (c *simWallClock) read() time.Duration {
	t := c.now()
	return t + c.ahead + parts(t-c.since, c.ppm)
}

func (c *simWallClock) micros() int64 { return benchStart + c.read().Microseconds() }

// drift changes how fast the clock goes, from now on.
func (c *simWallClock) drift(ppm int) {
	c.ahead, c.since, c.ppm = c.read()-c.now(), c.now(), ppm
}

func (c *simWallClock) step(by time.Duration) { c.ahead += by }
