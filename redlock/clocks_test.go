package redlock

import (
	"testing"
	"time"
)

// stillClock goes on by hand alone.
type stillClock struct{ now time.Duration }

func (c *stillClock) Now() time.Duration { return c.now }

// seenClocks are three nodes' clocks, read once a second in a round trip of 1 ms.
type seenClocks struct {
	*clocks
	time *stillClock
}

func seeClocks() seenClocks {
	still := &stillClock{now: time.Hour}
	return seenClocks{newClocks(still, 3, 10*time.Second), still}
}

// read lets a second pass and reads the clocks, each ahead by so much.
func (s seenClocks) read(ahead ...time.Duration) {
	s.time.now += time.Second
	for i, a := range ahead {
		s.observe(i, s.time.now-time.Millisecond, s.time.now, (s.time.now + a + 1e6*time.Hour).Microseconds())
	}
}

func (s seenClocks) expect(t *testing.T, when string, margin time.Duration, want ...bool) {
	t.Helper()
	for i, w := range want {
		if got := s.votes(i, margin, s.time.now); got != w {
			t.Errorf("%s: with a margin of %v node %d votes: %v", when, margin, i, got)
		}
	}
}

func TestAClockThatSteppedHasNoVoteForMaxTTL(t *testing.T) {
	const margin = 500 * time.Millisecond
	s := seeClocks()
	s.read(0, 0, 0)
	s.expect(t, "at first", margin, true, true, true)
	s.read(0, 200*time.Millisecond, 0)
	s.expect(t, "a step within half the margin", margin, true, true, true)
	s.expect(t, "the same", 300*time.Millisecond, true, false, true)
	s.read(0, -200*time.Millisecond, 0)
	s.expect(t, "a step of more than half", margin, true, false, true)
	for range 9 {
		s.read(0, -200*time.Millisecond, 0)
	}
	s.expect(t, "just before MaxTTL has passed", margin, true, false, true)
	s.read(0, -200*time.Millisecond, 0)
	s.expect(t, "after it", margin, true, true, true)
}

func TestClocksThatDriftHaveNotStepped(t *testing.T) {
	s := seeClocks()
	for i := range 1000 { // 100 ppm
		s.read(0, time.Duration(i)*100*time.Microsecond, -time.Duration(i)*100*time.Microsecond)
	}
	s.expect(t, "slow and fast", 500*time.Millisecond, true, true, true)
	s.expect(t, "slow and fast, but apart by less than this", 20*time.Millisecond, true, true, true)
}

func TestAClockThatIsAloneHasNoVote(t *testing.T) {
	const margin = 500 * time.Millisecond
	s := seeClocks()
	s.read(0, 300*time.Millisecond, time.Minute)
	s.expect(t, "a minute off", margin, true, true, false)
	if !s.agreed(margin, s.time.now) {
		t.Error("two agree")
	}
	s.expect(t, "none agree, so none is known to be off", 100*time.Millisecond, true, true, true)
	s = seeClocks()
	s.read(0, 499*time.Millisecond, 998*time.Millisecond)
	s.expect(t, "each within the margin of a majority", margin, true, true, true)
	s = seeClocks()
	s.read(0, 0)
	s.expect(t, "one was never heard", margin, true, true, true)
	s = seeClocks()
	s.read(0, time.Minute)
	if s.expect(t, "two, apart", margin, true, true, true); s.agreed(margin, s.time.now) {
		t.Error("two that differ agree")
	}
}

func TestReadingsBoundAClockFromBothSides(t *testing.T) {
	s := seeClocks()
	s.time.now += time.Second
	at := func(node, micros int64) { s.observe(int(node), s.time.now-100*time.Millisecond, s.time.now, micros) }
	at(0, 1_000_000_000)
	wide := (*s.known.Load())[0]
	if got := wide.high - wide.low; got != 100*time.Millisecond+time.Microsecond {
		t.Fatalf("a round trip of 100 ms bounds to %v", got)
	}
	at(0, 1_000_060_000) // within the same bounds, from the other side
	if o := (*s.known.Load())[0]; o.high-o.low > 41*time.Millisecond || len(o.steps) != 0 {
		t.Fatalf("two readings bound to %v, with steps %v", o.high-o.low, o.steps)
	}
	if earliest := s.on(0, s.time.now, s.time.now); earliest > 1_000_060_000 {
		t.Fatalf("the node cannot be at %d yet", earliest)
	}
}
