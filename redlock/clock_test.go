package redlock

import (
	"sync/atomic"
	"testing"
	"time"
)

// handClock goes on with real time and is moved by hand, as suspend does it.
type handClock struct {
	start time.Time
	ahead atomic.Int64
}

func newHandClock() *handClock { return &handClock{start: time.Now()} }

func (c *handClock) Now() time.Duration { return time.Since(c.start) + time.Duration(c.ahead.Load()) }

func (c *handClock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

func TestTheSystemClockGoesOn(t *testing.T) {
	c := newSystemClock()
	before := c.Now()
	pause(t.Context(), 10*time.Millisecond)
	if passed := c.Now() - before; passed < 10*time.Millisecond || passed > 5*time.Second {
		t.Fatal(passed)
	}
}
