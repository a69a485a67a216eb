package redlock

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// simControl shows what a rule is for: left out, it brings violations of a claim
// back; in its place, the same schedules have none.
type simControl struct {
	rule  string
	claim string
	seeds []uint64
	world func(*simSetting) // of both
	out   func(*simSetting) // leaves the rule out, and what masks it
}

func losing(loses ...int) func(*simSetting) {
	return func(s *simSetting) {
		s.clocks, s.loses, s.faults = clocksSteady, loses, 40
	}
}

// ahead makes the proposals of the first client run ahead of the nodes' time, in a
// fleet that would let them.
func ahead(by time.Duration, fence time.Duration) func(*simSetting) {
	return func(s *simSetting) {
		losing(loseAll)(s)
		if fence > 0 {
			s.config = func(c *Config) { c.Bound, c.FenceTTL = 3*time.Second, fence }
		}
		s.change = func(c *simClient, l *Locker) {
			propose := l.propose
			if c.id == 0 {
				l.propose = func(now, seen int64) int64 { return propose(now+by.Microseconds(), seen) }
			}
		}
	}
}

// and adds to what a world does to its clients.
func (s *simSetting) and(change func(c *simClient, l *Locker)) {
	before := s.change
	s.change = func(c *simClient, l *Locker) {
		if before != nil {
			before(c, l)
		}
		change(c, l)
	}
}

// oneNonce makes all attempts of an owner bear one nonce.
func oneNonce(owner func(c *simClient) string) func(*simSetting) {
	return func(s *simSetting) {
		s.and(func(c *simClient, l *Locker) {
			nonce := l.nonce
			l.nonce = func() string { _ = nonce(); return owner(c) }
		})
	}
}

func process(c *simClient) string { return string(rune('A' + c.id)) }

func host(*simClient) string { return "host" }

// repeating proposes a token again until somebody's is seen above it.
func repeating(s *simSetting) {
	s.and(func(c *simClient, l *Locker) {
		propose := l.propose
		l.propose = func(now, seen int64) int64 {
			if c.repeated <= seen || c.repeated < now-time.Second.Microseconds() {
				c.repeated = propose(now, seen)
			}
			return c.repeated
		}
	})
}

// deaf to clocks lets every node vote.
func everyNodeVotes(s *simSetting) {
	s.and(func(_ *simClient, l *Locker) { l.clocks.memory, l.clocks.need = 0, 99 })
}

func noRaisedFloor(s *simSetting) { s.without.noRaisedFloorOnAbandon = true }

func storm(s *simSetting) {
	s.clocks, s.nodes, s.clients, s.faults, s.loss, s.twice, s.delay = clocksSteady, 3, 3, 0, 5, 30, 5
}

func guarded(s *simSetting) { s.clocks, s.nodes, s.faults = clocksGuarded, 3, 30 }

func all(changes ...func(*simSetting)) func(*simSetting) {
	return func(s *simSetting) {
		for _, c := range changes {
			c(s)
		}
	}
}

func slower(ppm time.Duration) func(*simSetting) {
	return func(s *simSetting) { s.slow = ppm }
}

var simControls = []simControl{
	{rule: "a value of its own for each attempt: two processes share it", claim: claimExclusion, out: oneNonce(host)},
	{rule: "a value of its own for each attempt: one process does", claim: claimExclusion,
		world: all(storm, repeating, noRaisedFloor), out: oneNonce(process)},
	{rule: "no token proposed twice", claim: claimExclusion,
		world: all(storm, oneNonce(process), noRaisedFloor), out: repeating},
	{rule: "above the floor, not at it", claim: claimTokens, world: ahead(400*time.Millisecond, 0), out: func(s *simSetting) { s.without.lowIsFine = true }},
	{rule: "quarantine, all data in RAM", claim: claimExclusion, world: losing(loseAll), out: func(s *simSetting) { s.without.noQuarantine = true }},
	{rule: "quarantine, the tail of the log lost", claim: claimExclusion, world: losing(1, 2, 3), out: func(s *simSetting) { s.without.noQuarantine = true }},
	{rule: "marker", claim: claimExclusion, world: losing(loseAll), out: func(s *simSetting) { s.without.noMarker = true }},
	{rule: "bound", claim: claimTokens, world: ahead(4*time.Second, 10*time.Second), out: func(s *simSetting) { s.without.noBound = true }},
	{rule: "floor of the boot", claim: claimTokens, world: ahead(2900*time.Millisecond, 10*time.Second), out: func(s *simSetting) { s.without.noBootFloor = true }},
	{rule: "floor of what expired", claim: claimTokens, world: all(ahead(2900*time.Millisecond, time.Second), func(s *simSetting) { s.loses = []int{loseNothing} }),
		out: func(s *simSetting) { s.without.noExpiredFloor = true }},
	{rule: "floor raised by abandon", claim: claimOrphans, out: noRaisedFloor},
	{rule: "repair in time only", claim: claimOrphans, world: losing(loseNothing), out: func(s *simSetting) { s.without.noRepairLimit = true }},
	{rule: "votes by clocks", claim: claimExclusion, world: guarded, out: everyNodeVotes},
	{rule: "margin for drift: left out is staying within it", claim: claimExclusion, world: all(losing(loseNothing), slower(80_000), everyNodeVotes), out: slower(300_000)},
	{rule: "votes by clocks: drift beyond margin", claim: claimExclusion, world: all(losing(loseNothing), slower(300_000)), out: everyNodeVotes},
}

func TestExploreControls(t *testing.T) {
	only := os.Getenv("RULE")
	for _, c := range simControls {
		if !strings.Contains(c.rule, only) {
			continue
		}
		for _, off := range []bool{true} {
			var r simReport
			simulateMany(t, *simHowMany, func(s *simSetting) {
				if c.world != nil {
					c.world(s)
				}
				if off {
					c.out(s)
				}
			}, &r)
			seeds := r.seeds[c.claim]
			fmt.Println(c.rule, off, r.violations, seeds[:min(len(seeds), 6)])
		}
	}
}
