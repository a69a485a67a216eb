// Package measure plays locks against each other: in turn, on the same nodes,
// each with as many goroutines and as long as the others.
package measure

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Lock is one contender.
type Lock struct {
	Name string
	// Cycle acquires the key, which nobody else wants, and releases it.
	Cycle func(ctx context.Context, key string) error
	Close func() error
}

// Plan says how long who plays.
type Plan struct {
	Goroutines int
	Rounds     int           // of each lock; its figures are the medians of them
	Round      time.Duration // how long one takes
	WarmUp     time.Duration // of each lock before the first round, not counted; may be 0
	Pause      time.Duration // after each turn: one lock's last commands end before the next begins
}

// Figures are what one lock did on one set of nodes.
type Figures struct {
	Lock       string
	Nodes      int
	CyclesPerS float64 // the median of the rounds, as are P50 and P99
	Spread     float64 // the best round's cycles less the worst one's, as a part of the median
	P50, P99   time.Duration
	Max        time.Duration // of all rounds
	Failed     int           // cycles that ended with an error, in all rounds
	Err        error         // the first of them
}

// Run plays all rounds and returns the figures in the order of locks. The locks
// take turns, so that a machine that is slower for a while is so for all of them.
func Run(ctx context.Context, plan Plan, nodes int, locks []Lock) ([]Figures, error) {
	if err := Warm(ctx, plan, locks); err != nil {
		return nil, err
	}
	rounds := make([][]round, len(locks))
	for r := range plan.Rounds {
		for turn := range locks {
			i := who(r, turn, len(locks))
			rounds[i] = append(rounds[i], play(ctx, locks[i], plan.Goroutines, plan.Round))
			if err := rest(ctx, plan.Pause); err != nil {
				return nil, err
			}
		}
	}
	figures := make([]Figures, len(locks))
	for i, l := range locks {
		figures[i] = sum(l.Name, nodes, rounds[i])
	}
	return figures, nil
}

// who plays: another one begins each round, and every second round goes backwards,
// so that nobody always follows the same one.
func who(round, turn, locks int) int {
	if round%2 == 1 {
		turn = locks - turn
	}
	return (round + turn) % locks
}

// Warm lets every lock open its connections and load its scripts.
func Warm(ctx context.Context, plan Plan, locks []Lock) error {
	if plan.WarmUp == 0 {
		return ctx.Err()
	}
	for _, l := range locks {
		play(ctx, l, plan.Goroutines, plan.WarmUp)
		if err := rest(ctx, plan.Pause); err != nil {
			return err
		}
	}
	return nil
}

// rest also collects one contender's garbage at nobody's cost.
func rest(ctx context.Context, pause time.Duration) error {
	runtime.GC()
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func sum(lock string, nodes int, rounds []round) Figures {
	f := Figures{Lock: lock, Nodes: nodes}
	var rates []float64
	var p50s, p99s []time.Duration
	for _, r := range rounds {
		rates = append(rates, r.perS())
		p50s = append(p50s, r.percentile(50))
		p99s = append(p99s, r.percentile(99))
		f.Max = max(f.Max, r.percentile(100))
		f.Failed += r.failed
		if f.Err == nil {
			f.Err = r.err
		}
	}
	f.CyclesPerS, f.P50, f.P99 = median(rates), median(p50s), median(p99s)
	if f.CyclesPerS > 0 {
		f.Spread = (slices.Max(rates) - slices.Min(rates)) / f.CyclesPerS
	}
	return f
}

// median of an even number of values is the mean of the two in the middle.
func median[T float64 | time.Duration](values []T) T {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
