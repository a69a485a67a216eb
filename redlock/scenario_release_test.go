package redlock

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

func TestAnExtensionThatRacesTheReleaseLeavesNothingHeld(t *testing.T) {
	t.Parallel()
	extensionsRaceReleases(t, 1, 500)
}

// extensionsRaceReleases sends an extension and the release of the same lease at
// once, many times, and then looks on every node for what is held all the same.
func extensionsRaceReleases(t *testing.T, rounds, races int) {
	t.Helper()
	const workers = 50
	r := newRig(t, 3)
	l := rigLocker(t, r.direct(), func(c *Config) { c.TTL, c.MaxTTL = 2*time.Second, 2*time.Second })
	kept := await(t, l, Key(newKey(t)))
	for range rounds { // before the nodes forget what was released
		allAtOnce(workers, func(int) {
			for range races / workers {
				s, err := l.Acquire(t.Context(), Key(newKey(t)))
				if err != nil {
					t.Error(err)
					return
				}
				allAtOnce(2, func(i int) {
					if i == 0 {
						if err := s.Check(t.Context()); errors.Is(err, ErrLost) {
							t.Error("a release passed for a loss:", err)
						}
					} else if got, err := s.Release(t.Context()); got != Released || err != nil {
						t.Error(got, err)
					}
				})
			}
		})
		for i := range r.servers { // the control is the one that is kept
			eventually(t, "only one is held", func() bool { return r.held(t, i) == "1" })
		}
	}
	release(t, kept, Released)
}

// held counts the records of a node that say so, run out or not.
func (r rig) held(tb testing.TB, node int) string {
	tb.Helper()
	n, err := r.servers[node].Command(tb.Context(), "EVAL", `
		local held = {}
		for _, k in ipairs(redis.call('KEYS', '*lock:*')) do
			held[#held + 1] = string.match(redis.call('GET', k), '^%d+:%d+:(1):')
		end
		return #held`, "0")
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestHandlersThatPanicOrExitReleaseOnRealNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	l, rival, key := rigLocker(t, r.direct()), rigLocker(t, r.direct()), newKey(t)
	for name, f := range map[string]func(context.Context) error{
		"panic":  func(context.Context) error { panic(errors.New("the handler's")) },
		"Goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() { _ = recover() }()
			_ = l.Do(t.Context(), key, f)
		}()
		<-ended
		if s, err := rival.TryAcquire(t.Context(), Key(key)); err != nil {
			t.Errorf("after %s: %v", name, err)
		} else {
			release(t, s, Released)
		}
	}
}
