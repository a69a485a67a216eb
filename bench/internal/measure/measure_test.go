package measure

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lasting is a lock whose cycles take as long as took says.
func lasting(name string, took func(key string) time.Duration) Lock {
	return Lock{Name: name, Cycle: func(ctx context.Context, key string) error {
		select {
		case <-time.After(took(key)):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

func always(d time.Duration) func(string) time.Duration {
	return func(string) time.Duration { return d }
}

// In a bubble nothing but the lock takes time, so the figures are exact.
func TestALockOfKnownLengthHasKnownFigures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plan := Plan{Goroutines: 50, Rounds: 3, Round: time.Second, WarmUp: time.Second}
		all, err := Run(t.Context(), plan, 3, []Lock{lasting("ten", always(10*time.Millisecond)), lasting("forty", always(40*time.Millisecond))})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []Figures{
			{Lock: "ten", Nodes: 3, CyclesPerS: 5000, P50: 10 * time.Millisecond, P99: 10 * time.Millisecond, Max: 10 * time.Millisecond},
			{Lock: "forty", Nodes: 3, CyclesPerS: 1250, P50: 40 * time.Millisecond, P99: 40 * time.Millisecond, Max: 40 * time.Millisecond},
		} {
			if all[i] != want {
				t.Errorf("got %+v, want %+v", all[i], want)
			}
		}
	})
}

func TestTheSlowestHundredthIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		took := func(key string) time.Duration { // one of fifty cycles is slow
			if strings.HasSuffix(key, "7") && strings.Contains(key, "/0/") {
				return 70 * time.Millisecond
			}
			return time.Millisecond
		}
		r := play(t.Context(), lasting("uneven", took), 5, time.Second)
		if p50, p99 := r.percentile(50), r.percentile(99); p50 != time.Millisecond || p99 != time.Millisecond {
			t.Errorf("p50 %v, p99 %v: want 1ms for both, since fewer than one of a hundred are slow", p50, p99)
		}
		if most := r.percentile(100); most != 70*time.Millisecond {
			t.Errorf("max %v, want 70ms", most)
		}
		r = play(t.Context(), lasting("uneven", took), 1, time.Second)
		if p99 := r.percentile(99); p99 != 70*time.Millisecond {
			t.Errorf("p99 %v, want 70ms, since one of ten is slow", p99)
		}
	})
}

// What the instrument itself costs must be small against the fastest lock, even
// under the race detector on a busy machine.
func TestALockThatDoesNothingIsFarFasterThanAnyLock(t *testing.T) {
	t.Parallel()
	nothing := Lock{Name: "nothing", Cycle: func(context.Context, string) error { return nil }}
	all, err := Run(t.Context(), Plan{Goroutines: 50, Rounds: 5, Round: 50 * time.Millisecond}, 1, []Lock{nothing})
	if err != nil {
		t.Fatal(err)
	}
	if f := all[0]; f.CyclesPerS < 50_000 || f.P50 > 20*time.Microsecond {
		t.Errorf("%.0f cycles a second with p50 %v, want more than 50000 within 20µs", f.CyclesPerS, f.P50)
	}
}

func TestTheMedianIsOfTheRoundsAndTheSpreadSaysHowFarTheyWereApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rounds := []time.Duration{20 * time.Millisecond, 10 * time.Millisecond, 40 * time.Millisecond}
		start := time.Now()
		slower := lasting("slower", func(string) time.Duration {
			return rounds[time.Since(start)/time.Second]
		})
		all, err := Run(t.Context(), Plan{Goroutines: 1, Rounds: 3, Round: time.Second}, 1, []Lock{slower})
		if err != nil {
			t.Fatal(err)
		}
		if f := all[0]; f.CyclesPerS != 50 || f.Spread != 1.5 || f.P50 != 20*time.Millisecond || f.Max != 40*time.Millisecond {
			t.Errorf("got %+v, want 50 a second, of 25 to 100", f)
		}
	})
}

func TestFailedCyclesAreToldAndAreNoRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		half := lasting("half", always(10*time.Millisecond))
		wait := half.Cycle
		half.Cycle = func(ctx context.Context, key string) error {
			err := wait(ctx, key)
			if strings.ContainsAny(key[len(key)-1:], "13579") {
				return refused
			}
			return err
		}
		all, err := Run(t.Context(), Plan{Goroutines: 2, Rounds: 1, Round: time.Second}, 1, []Lock{half})
		if err != nil {
			t.Fatal(err)
		}
		if f := all[0]; f.CyclesPerS != 100 || f.Failed != 100 || !errors.Is(f.Err, refused) {
			t.Errorf("got %+v, want 100 a second and 100 refused", f)
		}
	})
}

func TestLocksTakeTurnsAndNoKeyComesTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		seen := map[string]bool{}
		noting := func(name string) Lock {
			l := lasting(name, always(time.Second))
			wait := l.Cycle
			l.Cycle = func(ctx context.Context, key string) error {
				mu.Lock()
				if seen[key] {
					t.Errorf("key %q came twice", key)
				}
				seen[key] = true
				order = append(order, name)
				mu.Unlock()
				return wait(ctx, key)
			}
			return l
		}
		plan := Plan{Goroutines: 1, Rounds: 3, Round: time.Second, WarmUp: time.Second}
		if _, err := Run(t.Context(), plan, 1, []Lock{noting("a"), noting("b"), noting("c")}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(order, ""), "abc"+"abc"+"bac"+"cab"; got != want {
			t.Errorf("turns %s, want %s", got, want)
		}
	})
}
