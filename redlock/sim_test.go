package redlock

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
)

// These are set by build/sim.
var (
	simHowMany      = flag.Uint64("sim.seeds", simSeeds, "how many schedules to simulate")
	simOne          = flag.String("sim.seed", "", "the one schedule to simulate, and tell of")
	simControlSeeds = flag.Uint64("sim.controls", 20, "how many schedules to try each rule in")
	simWriteFile    = flag.String("sim.report", "", "the file to write the report to")
)

// The claims of the protocol hold in every schedule of a fleet whose network
// loses, delays, doubles and reorders, whose nodes restart and forget, whose clocks
// are wrong, and whose callers leave.
func TestEveryClaimHoldsInRandomSchedules(t *testing.T) {
	var r simReport
	if *simOne != "" {
		var seed uint64
		if _, err := fmt.Sscan(*simOne, &seed); err != nil {
			t.Fatal(err)
		}
		r.add(seed, simulate(t, seed, nil, func(line string) { fmt.Println(line) }))
	} else {
		simulateMany(t, *simHowMany, nil, &r)
	}
	if *simWriteFile != "" {
		f, err := os.Create(*simWriteFile)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		r.print(f)
	}
	if r.failed() > 0 {
		t.Errorf("violations %v in schedules %v", r.violations, r.seeds)
	}
	if *simOne == "" && r.vacuous() {
		t.Errorf("something never happened: %+v", r.counts)
	}
}

// simulateMany runs the schedules of the first seeds on all cores.
func simulateMany(t *testing.T, seeds uint64, change func(*simSetting), r *simReport) {
	t.Helper()
	var next atomic.Uint64
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1) - 1; seed < seeds; seed = next.Add(1) - 1 {
					r.add(seed, simulate(t, seed, change, nil))
				}
			})
		}
	})
}

// A schedule depends on its seed alone: else a violation could not be looked into.
func TestASeedReplays(t *testing.T) {
	for seed := range uint64(50) {
		var first, second simHash
		simulate(t, seed, nil, first.add)
		simulate(t, seed, nil, second.add)
		if first != second {
			t.Errorf("seed %d gives another history when it is run again", seed)
		}
	}
}
