package redlock

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// simReport sums schedules up.
type simReport struct {
	mu         sync.Mutex
	schedules  int
	steps      int64
	counts     simCounts
	violations map[string]int
	seeds      map[string][]uint64 // of schedules with violations
}

func (r *simReport) add(seed uint64, w *simWorld) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.violations == nil {
		r.violations, r.seeds = map[string]int{}, map[string][]uint64{}
	}
	r.schedules++
	r.steps += w.steps.Load()
	r.counts.acquired += w.counts.acquired
	r.counts.repaired += w.counts.repaired
	r.counts.adopted += w.counts.adopted
	r.counts.restarts += w.counts.restarts
	r.counts.lost += w.counts.lost
	for claim, n := range w.violations {
		r.violations[claim] += n
		r.seeds[claim] = append(r.seeds[claim], seed)
	}
}

// claims are those of the protocol, in the order of the report's lines.
var claims = []string{claimNotice, claimExclusion, claimTokens, claimOrphans, claimCompletion}

// failed is how often a claim was broken, and vacuous that something did not happen
// at all.
func (r *simReport) failed() (n int) {
	for _, c := range claims {
		n += r.violations[c]
	}
	return n
}

func (r *simReport) vacuous() bool {
	c := r.counts
	return min(c.acquired, c.repaired, c.adopted, c.restarts, c.lost) == 0
}

// print writes the report. Its last two lines are for machines.
func (r *simReport) print(w io.Writer) {
	const few = 5
	_, _ = fmt.Fprintf(w, "%d schedules of %d steps in all\n", r.schedules, r.steps)
	for _, c := range append(slices.Clone(claims), notClaimed) {
		_, _ = fmt.Fprintf(w, "%s: %d violations", c, r.violations[c])
		if seeds := slices.Sorted(slices.Values(r.seeds[c])); len(seeds) > 0 {
			_, _ = fmt.Fprintf(w, ", first with SEED=%v", seeds[:min(few, len(seeds))])
		}
		_, _ = fmt.Fprintln(w)
	}
	c := r.counts
	_, _ = fmt.Fprintf(w, "acquired=%d repaired=%d adopted=%d restarts=%d lost=%d\n", c.acquired, c.repaired, c.adopted, c.restarts, c.lost)
	v := r.violations
	_, _ = fmt.Fprintf(w, "schedules=%d exclusion=%d tokens=%d orphans=%d completion=%d\n",
		r.schedules, v[claimExclusion], v[claimTokens], v[claimOrphans], v[claimCompletion])
}
