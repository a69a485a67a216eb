package redlock

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// extensions counts how often a node is asked to extend a key.
func extensions(m *miniredis.Miniredis, l *Locker, key string) *atomic.Int64 {
	var heard atomic.Int64
	m.Server().SetPreHook(func(_ *server.Peer, cmd string, args ...string) bool {
		if cmd == "EVALSHA" && slices.Contains(args, verbExtend) && slices.Contains(args, l.recordKey(key)) {
			heard.Add(1)
		}
		return false
	})
	return &heard
}

// lostFor waits until the lease is lost, and checks why, and that it is over for
// good: nobody extends it, and another can have the key after a TTL.
func lostFor(t *testing.T, s *Lease, m *miniredis.Miniredis, why Why) *LostError {
	t.Helper()
	select {
	case <-s.Context().Done():
	case <-time.After(time.Minute):
		t.Fatal("it was not lost")
	}
	lost, ok := errors.AsType[*LostError](context.Cause(s.Context()))
	if !ok || lost.Why != why || lost.Token != s.Token() || s.Err() != error(lost) {
		t.Fatalf("lost for %v, want %q", context.Cause(s.Context()), why)
	}
	synctest.Wait() // what was on its way has arrived
	heard := extensions(m, s.l, s.Keys()[0])
	start := s.l.cfg.Clock.Now()
	release(t, await(t, s.l, Key(s.Keys()...)), Released)
	if waited := s.l.cfg.Clock.Now() - start; waited > s.try.claim.TTL+1500*time.Millisecond {
		t.Errorf("the key was free after %v", waited)
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("extended %d times after it was lost", n)
	}
	return lost
}

func TestAnUnhealthyHolderIsExtendedNoMore(t *testing.T) {
	broken := errors.New("no connection to the database")
	for name, c := range map[string]struct {
		healthy func(ctx context.Context) error
		want    string
	}{
		"an error": {func(context.Context) error { return broken }, "no connection to the database"},
		"a panic":  {func(context.Context) error { panic("boom") }, "the health check panicked: boom"},
		"Goexit":   {func(context.Context) error { runtime.Goexit(); return nil }, "did not answer"},
		"silence": {func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}, "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _, l := bubble(t, 1)
				var fails atomic.Bool
				s := take(t, l, Claim{Keys: []string{"k"}, Healthy: func(ctx context.Context) error {
					if fails.Load() {
						return c.healthy(ctx)
					}
					return nil
				}})
				pause(t.Context(), 10*time.Second)
				if err := s.Check(t.Context()); err != nil {
					t.Fatal("control: it was healthy:", err)
				}
				fails.Store(true)
				lost := lostFor(t, s, m[0], LostUnhealthy)
				if lost.Err == nil || !strings.Contains(lost.Error(), c.want) {
					t.Error(lost)
				}
				if name == "an error" && !errors.Is(context.Cause(s.Context()), broken) {
					t.Error("the cause leaves out the check's own error")
				}
			})
		})
	}
}

// One that never returns is left behind, and holds up nobody.
func TestAHealthCheckThatBlocksForEverCostsItsOwnLeaseAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := bubble(t, 1)
		block := make(chan struct{})
		defer close(block)
		other := take(t, l, Claim{Keys: []string{"other"}, Healthy: func(context.Context) error { return nil }})
		s := take(t, l, Claim{Keys: []string{"k"}, Healthy: func(context.Context) error { <-block; return nil }})
		begun := l.cfg.Clock.Now()
		<-s.Context().Done()
		if took := l.cfg.Clock.Now() - begun; took > s.try.claim.TTL {
			t.Errorf("lost after %v", took)
		}
		if lost, ok := errors.AsType[*LostError](s.Err()); !ok || lost.Why != LostUnhealthy || !errors.Is(lost, errNoAnswer) {
			t.Fatal(s.Err())
		}
		pause(t.Context(), 10*time.Second)
		if err := other.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, other, Released)
	})
}

func TestAStalledHolderIsExtendedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		s := take(t, l, Claim{Keys: []string{"k"}, Stall: 700 * time.Millisecond})
		plain := take(t, l, Key("plain"))
		for range 20 {
			pause(t.Context(), 600*time.Millisecond)
			s.Beat()
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal("control: it made progress:", err)
		}
		last := clock.Now()
		<-s.Context().Done()
		if silent := clock.Now() - last; silent < 100*time.Millisecond || silent > 700*time.Millisecond+2*longestTick {
			t.Errorf("lost after %v without a beat", silent)
		}
		s.Beat() // too late
		_ = lostFor(t, s, m[0], LostStalled)
		if err := plain.Check(t.Context()); err != nil {
			t.Error("another lease was lost, too:", err)
		}
		release(t, plain, Released)
	})
}

func TestALeaseEndsAtItsMaxHoldHoweverHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		start := clock.Now()
		s := take(t, l, Claim{Keys: []string{"k"}, MaxHold: 5 * time.Second, Stall: time.Second, Healthy: func(context.Context) error { return nil }})
		plain := take(t, l, Key("plain"))
		for s.Context().Err() == nil {
			s.Beat()
			pause(s.Context(), 100*time.Millisecond)
		}
		if held := clock.Now() - start; held < 5*time.Second || held > 5*time.Second+2*longestTick {
			t.Errorf("held for %v", held)
		}
		_ = lostFor(t, s, m[0], LostMaxHold)
		if err := plain.Check(t.Context()); err != nil {
			t.Error("another lease was lost, too:", err)
		}
		release(t, plain, Released)
	})
}
