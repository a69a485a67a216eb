package redlock

import (
	"testing"
	"time"
)

func TestTokensIncreaseWhenTwoClocksOfThreeStep(t *testing.T) {
	t.Parallel()
	r := newClockRig(t, 3)
	l, key, last := rigLocker(t, r.direct()), newKey(t), int64(0)
	for _, step := range []time.Duration{0, 1500 * time.Millisecond, 0, 5 * time.Second, 4 * time.Second} {
		for _, s := range r.servers[:2] {
			if err := s.ShiftClock(step); err != nil {
				t.Fatal(err)
			}
		}
		s := await(t, l, Key(key))
		if s.Token() <= last {
			t.Errorf("token %d after %d, at %v", s.Token(), last, step)
		}
		last = s.Token()
		if _, err := s.Release(t.Context()); err != nil {
			t.Log(err) // a node without a vote answers all the same
		}
	}
}
