package measure

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// round is one lock's turn.
type round struct {
	elapsed time.Duration   // until the last cycle had ended
	took    []time.Duration // every cycle, failed ones too: their callers waited as well; sorted
	failed  int
	err     error // of the first failed one
}

var played atomic.Int64

// play runs cycles in goroutines until d is over. Every cycle has a key that was
// never used before: a job's key seldom comes twice, and a key whose work is
// recorded as done cannot be had again.
func play(ctx context.Context, l Lock, goroutines int, d time.Duration) round {
	prefix := fmt.Sprintf("%s/%d", l.Name, played.Add(1))
	parts := make([]round, goroutines)
	start := time.Now()
	var players sync.WaitGroup
	for g := range parts {
		players.Go(func() {
			for n := 0; time.Since(start) < d && ctx.Err() == nil; n++ {
				parts[g].cycle(ctx, l, fmt.Sprintf("%s/%d/%d", prefix, g, n))
			}
		})
	}
	players.Wait()
	whole := round{elapsed: time.Since(start)}
	for _, part := range parts {
		whole.took = append(whole.took, part.took...)
		whole.failed += part.failed
		if whole.err == nil {
			whole.err = part.err
		}
	}
	slices.Sort(whole.took)
	return whole
}

func (r *round) cycle(ctx context.Context, l Lock, key string) {
	began := time.Now()
	err := l.Cycle(ctx, key)
	r.took = append(r.took, time.Since(began))
	if err == nil {
		return
	}
	r.failed++
	if r.err == nil {
		r.err = err
	}
}

// perS counts what succeeded.
func (r *round) perS() float64 {
	return float64(len(r.took)-r.failed) / r.elapsed.Seconds()
}

// percentile is the least duration that p percent of the cycles did not exceed.
func (r *round) percentile(p int) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	rank := (len(r.took)*p + 99) / 100
	return r.took[max(rank, 1)-1]
}
