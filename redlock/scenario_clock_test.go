package redlock

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

func TestANodeWhoseClockStepsPastTheTTLLetsNobodyIn(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{1500 * time.Millisecond, 10 * time.Second} { // less than Bound, and more
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			oneClockSteps(t, step, true)
		})
	}
}

// Who comes later can only tell by the other nodes' clocks.
func TestANodeWhoseClockSteppedBeforeLetsNobodyIn(t *testing.T) {
	t.Parallel()
	oneClockSteps(t, 1500*time.Millisecond, false)
}

// oneClockSteps has a rival at a lock that it could get if clocks were believed:
// one node has the grant, and its clock steps until that has run out; one never
// heard of the grant; and those two are a majority.
func oneClockSteps(t *testing.T, step time.Duration, known bool) {
	t.Helper()
	r := newClockRig(t, 3)
	d := r.door(t)
	l, rival := rigLocker(t, d.nodes), newLocker(t, r.direct(), shortly)
	if known {
		warm(t, rival)
	}
	each(t, (*servers.Proxy).BlackHole, d.proxies[2])
	key := newKey(t)
	s := await(t, l, Key(key))
	if err := r.servers[1].ShiftClock(step); err != nil {
		t.Fatal(err)
	}
	for s.Context().Err() == nil { // one node of three is left to the holder, so it ends
		next, err := rival.TryAcquire(t.Context(), Key(key))
		if err == nil {
			if s.Context().Err() == nil {
				t.Fatalf("tokens %d and %d hold it", s.Token(), next.Token())
			}
			_, _ = next.Release(t.Context())
		} else if !errors.Is(err, ErrHeld) && !errors.Is(err, ErrNoQuorum) {
			t.Fatal(err)
		}
		rest(t.Context(), 5*time.Millisecond)
	}
	if next := await(t, rival, Key(key)); next.Token() <= s.Token() {
		t.Error(next.Token(), s.Token())
	}
}
