package redlock

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
)

// bubble is a node set and a locker inside a synctest bubble: time is exact and
// costs nothing.
func bubble(t *testing.T, n int) ([]*miniredis.Miniredis, *handClock, *Locker) {
	t.Helper()
	clock := newHandClock()
	cfg := Config{TTL: time.Second, Clock: clock, Ungated: true}
	var minis []*miniredis.Miniredis
	for i := range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		minis = append(minis, m)
		t.Cleanup(m.Close)
		cfg.Nodes = append(cfg.Nodes, Node{Options: &redis.Options{
			Addr: string(rune('a' + i)),
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				c, err := m.Dial()
				if err != nil {
					return nil, err
				}
				return newEager(c), nil
			},
		}})
	}
	l, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return minis, clock, l
}

// deaf makes nodes refuse extensions, and count them.
func deaf(m []*miniredis.Miniredis, heard *atomic.Int64) {
	for _, m := range m {
		m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
			if cmd != "EVALSHA" {
				return false
			}
			heard.Add(1)
			p.WriteError("LOADING")
			return true
		})
	}
}

func TestSilenceEndsTheContextBeforeValidityEndsAndNotSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		s := take(t, l, Key("k"))
		start, end := clock.Now(), s.end()
		if got, want := end-start, 900*time.Millisecond; got != want {
			t.Fatalf("valid for %v, want %v", got, want)
		}
		var heard atomic.Int64
		deaf(m, &heard)
		<-s.Context().Done()
		now := clock.Now()
		if now >= end || now < end-2*longestTick {
			t.Fatalf("ended %v before validity did", end-now)
		}
		if !errors.Is(context.Cause(s.Context()), ErrLost) || !errors.Is(s.Err(), ErrLost) {
			t.Fatal(context.Cause(s.Context()))
		}
		// From the first failure at a third of the TTL on, every tick tries again.
		if n := heard.Load(); n < 8 || n > 15 {
			t.Fatalf("%d extensions tried", n)
		}
	})
}

func TestAHealthyLeaseIsExtendedEveryThirdOfItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, l := bubble(t, 3)
		s := take(t, l, Key("k"))
		synctest.Wait() // every node is dialled, and none looks at its hook
		var heard atomic.Int64
		m[0].Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
			if cmd == "EVALSHA" {
				heard.Add(1)
			}
			return false
		})
		pause(t.Context(), 20*time.Second)
		if n := heard.Load(); s.Context().Err() != nil || n < 50 || n > 70 {
			t.Fatalf("%v after %d extensions of 20 s", context.Cause(s.Context()), n)
		}
		release(t, s, Released)
		synctest.Wait() // the release has reached every node
		heard.Store(0)
		pause(t.Context(), 5*time.Second)
		if heard.Load() != 0 {
			t.Fatal("extended after release")
		}
	})
}

func TestAfterASuspendTheContextEndsOnTheNextTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, clock, l := bubble(t, 3)
		s := take(t, l, Key("k"))
		pause(t.Context(), longestTick)
		if s.Context().Err() != nil {
			t.Fatal("control: held")
		}
		clock.advance(time.Second)
		pause(t.Context(), longestTick+time.Millisecond)
		if lost, ok := errors.AsType[*LostError](context.Cause(s.Context())); !ok || lost.Why != LostExpired {
			t.Fatal(context.Cause(s.Context()))
		}
		// The same process can take the key again when the nodes let go of it.
		next, err := l.Acquire(t.Context(), Key("k"))
		if err != nil || !next.Abandoned() {
			t.Fatal(err)
		}
		pause(t.Context(), 5*time.Second)
		if err := next.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, next, Released)
	})
}

func TestGrantsThatTookLongerThanTheirTTLAreNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock, l := bubble(t, 1)
		release(t, take(t, l, Key("k")), Released)
		m[0].Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
			if cmd == "EVALSHA" {
				clock.advance(time.Second) // the process slept while it waited
			}
			return false
		})
		if s, err := l.TryAcquire(t.Context(), Key("k")); !errors.Is(err, ErrNoQuorum) {
			t.Fatal(s, err)
		}
	})
}

func TestCloseEndsLeasesAndWaitersWithItsOwnCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := bubble(t, 3)
		s := take(t, l, Key("k"))
		waits := make(chan error)
		go func() {
			_, err := l.Acquire(t.Context(), Key("k"))
			waits <- err
		}()
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-waits; !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		if cause := context.Cause(s.Context()); !errors.Is(cause, ErrClosed) || !errors.Is(cause, ErrLost) {
			t.Fatal(cause)
		}
		if _, err := l.TryAcquire(t.Context(), Key("x")); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		if got, err := s.Release(t.Context()); got != Unknown || !errors.Is(err, ErrClosed) {
			t.Fatal(got, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal("closing twice:", err)
		}
	})
}

func TestDoReleasesWhateverEndsTheFunction(t *testing.T) {
	l := newLocker(t, embeddedNodes(t, 3))
	boom := errors.New("boom")
	for how, f := range map[string]func(context.Context) error{
		"nil":    func(context.Context) error { return nil },
		"error":  func(context.Context) error { return boom },
		"panic":  func(context.Context) error { panic(boom) },
		"Goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		key := newKey(t)
		ended := make(chan error, 1)
		go func() {
			var err error
			defer func() {
				_ = recover()
				ended <- err
			}()
			err = l.Do(t.Context(), key, f)
		}()
		if err := <-ended; (how == "error") != (err == boom) {
			t.Fatal(how, err)
		}
		free(t, l, key)
	}
}
