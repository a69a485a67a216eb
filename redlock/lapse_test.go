package redlock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfastjobs/holdfast"
)

func TestALapsedLeaseStandsUntilItRunsOutAndIsNotExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, l := bubble(t, 1)
		s := take(t, l, Key("k"))
		pause(t.Context(), 10*time.Second)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal("control: it is extended:", err)
		}
		s.Lapse()
		left := s.Left()
		if left <= 0 || left > s.try.claim.TTL || s.Err() != nil {
			t.Fatalf("%v left, %v", left, s.Err())
		}
		if err := s.Check(t.Context()); err != ErrStale {
			t.Errorf("check: %v", err)
		}
		if _, err := l.TryAcquire(t.Context(), Key("k")); err == nil {
			t.Error("another has it while it stands")
		}
		begun := l.cfg.Clock.Now()
		_ = lostFor(t, s, m[0], LostExpired)
		if took := l.cfg.Clock.Now() - begun; took < left || s.Left() != 0 {
			t.Errorf("another had it after %v of %v, and %v left", took, left, s.Left())
		}
	})
}

func TestALapsedLeaseCanBeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := bubble(t, 1)
		s := take(t, l, Claim{Keys: []string{"k"}, Record: "k"})
		s.Lapse()
		if err := s.Finish(t.Context(), holdfast.Record{Hash: "h"}, 0); err != nil || s.Left() != 0 {
			t.Errorf("%v, %v left", err, s.Left())
		}
		if _, done, err := l.Record(t.Context(), "k"); !done {
			t.Error("not recorded:", err)
		}
	})
}

// Who gives up on a holder must know for how long that word is its own to give.
func TestWhatIsLeftOfALeaseThatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := bubble(t, 1)
		s := take(t, l, Claim{Keys: []string{"k"}, MaxHold: 12 * time.Second})
		<-s.Context().Done()
		if left := s.Left(); left <= s.try.claim.TTL/3 || left > s.try.claim.TTL {
			t.Errorf("%v left of %v", left, s.try.claim.TTL)
		}
		pause(t.Context(), s.try.claim.TTL)
		if left := s.Left(); left != 0 {
			t.Errorf("%v left after a TTL", left)
		}
	})
}
