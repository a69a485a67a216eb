package redlock

import (
	"testing"
	"time"
)

// simControl shows what a rule is for: left out, it brings violations of a claim
// back; in its place, the same schedules have none.
type simControl struct {
	rule  string
	claim string
	masks string            // other rules that do its work too, and are left out on both sides
	seeds []uint64          // of schedules that need it
	world func(*simSetting) // of both sides
	out   func(*simSetting) // leaves it out
}

// simControls is the protocol's table of rules, and what its schedules need. The
// last two say the same of the clients' own rules.
var simControls = []simControl{
	{
		rule: "a value of its own for each attempt", claim: claimExclusion, seeds: []uint64{0, 2},
		out: oneNonce(host), // all processes of a host have one
	}, {
		rule: "a value of its own for each attempt, of one process", claim: claimExclusion, seeds: []uint64{80, 361},
		masks: "no token proposed twice, the floor raised by abandon",
		world: all(storm, repeating, noRaisedFloor), out: oneNonce(process),
	}, {
		rule: "no token proposed twice", claim: claimExclusion, seeds: []uint64{80, 361},
		masks: "a value of its own for each attempt, the floor raised by abandon",
		world: all(storm, oneNonce(process), noRaisedFloor), out: repeating,
	}, {
		rule: "above the floor, not at it or below", claim: claimTokens, seeds: []uint64{20, 25},
		world: ahead(400*time.Millisecond, 0), out: without(leftOut{lowIsFine: true}),
	}, {
		rule: "quarantine, where all data is in RAM", claim: claimExclusion, seeds: []uint64{67},
		world: losing(loseAll), out: without(leftOut{noQuarantine: true}),
	}, {
		rule: "quarantine, where the tail of a log is lost", claim: claimExclusion, seeds: []uint64{67},
		world: losing(1, 2, 3), out: without(leftOut{noQuarantine: true}),
	}, {
		rule: "the marker in each script", claim: claimExclusion, seeds: []uint64{67},
		world: losing(loseAll), out: without(leftOut{noMarker: true}),
	}, {
		rule: "Bound", claim: claimTokens, seeds: []uint64{203},
		world: ahead(4*time.Second, 10*time.Second), out: without(leftOut{noBound: true}),
	}, {
		rule: "the floor of the boot", claim: claimTokens, seeds: []uint64{2},
		world: ahead(2900*time.Millisecond, 10*time.Second), out: without(leftOut{noBootFloor: true}),
	}, {
		rule: "the floor of what expired", claim: claimTokens, seeds: []uint64{38},
		world: all(ahead(2900*time.Millisecond, time.Second), losing(loseNothing)), out: without(leftOut{noExpiredFloor: true}),
	}, {
		rule: "the floor raised by abandon", claim: claimOrphans, seeds: []uint64{7, 9},
		out: noRaisedFloor,
	}, {
		rule: "repair while the tenure is valid, and no longer", claim: claimOrphans, seeds: []uint64{36},
		world: losing(loseNothing), out: without(leftOut{noRepairLimit: true}),
	}, {
		rule: "no vote after a step of the clock", claim: claimExclusion, seeds: []uint64{157},
		world: guarded, out: everyNodeVotes,
	}, {
		rule: "a finish under a held lock only", claim: claimCompletion, seeds: []uint64{54},
		out: without(leftOut{staleIsFine: true}),
	}, {
		rule: "notice on the first tick after a suspend, since none is possible before", claim: claimNotice, seeds: []uint64{8},
		world: losing(loseNothing), out: func(s *simSetting) { s.strict = true },
	}, {
		rule: "the margin: nodes' clocks 8 % fast are within it, and 43 % are not", claim: claimExclusion, seeds: []uint64{229},
		masks: "no vote after a step of the clock, which such a drift looks like",
		world: all(losing(loseNothing), slower(80_000), everyNodeVotes), out: slower(300_000),
	}, {
		rule: "no vote for clocks that drift beyond the margin", claim: claimExclusion, seeds: []uint64{229},
		world: all(losing(loseNothing), slower(300_000)), out: everyNodeVotes,
	},
}

// Each rule of the protocol is there for something: in schedules that break it a
// claim fails, and in the same schedules under the rule none does. A change of the
// client makes other schedules of the seeds; then others are looked for.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, c := range simControls {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			seed, ok := c.breaks(t)
			if !ok {
				t.Fatalf("no schedule without it violates %s: is it needed?", c.claim)
			}
			if n := c.run(t, seed, false); n > 0 {
				t.Errorf("with it, seed %d violates %s %d times", seed, c.claim, n)
			}
		})
	}
}

// breaks returns a seed whose schedule violates the claim when the rule is left
// out.
func (c simControl) breaks(t *testing.T) (uint64, bool) {
	t.Helper()
	for _, seed := range c.seeds {
		if c.run(t, seed, true) > 0 {
			return seed, true
		}
	}
	for seed := range uint64(2000) {
		if c.run(t, seed, true) > 0 {
			t.Logf("the seeds %v are stale, and %d is not", c.seeds, seed)
			return seed, true
		}
	}
	return 0, false
}

// run counts violations in one schedule.
func (c simControl) run(t *testing.T, seed uint64, out bool) int {
	t.Helper()
	return simulate(t, seed, c.setting(out), nil).violations[c.claim]
}

func (c simControl) setting(out bool) func(*simSetting) {
	return func(s *simSetting) {
		if c.world != nil {
			c.world(s)
		}
		if out {
			c.out(s)
		}
	}
}

// This is no test of its own but for who wants figures: how often each rule
// matters in as many schedules.
func TestSchedulesHoldUnderEachRule(t *testing.T) {
	for _, c := range simControls {
		var out, in simReport
		simulateMany(t, *simControlSeeds, c.setting(true), &out)
		simulateMany(t, *simControlSeeds, c.setting(false), &in)
		t.Logf("%s: %s violated %d times without it, %d times with it", c.rule, c.claim, out.violations[c.claim], in.violations[c.claim])
		if in.violations[c.claim] > 0 {
			t.Errorf("schedules %v", in.seeds[c.claim])
		}
	}
}
