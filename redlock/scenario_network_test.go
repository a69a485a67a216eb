package redlock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

func TestAReplyThatIsLostMakesNoSecondTenure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	d := r.door(t)
	l, rival := rigLocker(t, d.nodes), rigLocker(t, r.direct())
	for lost := 1; lost <= 3; lost++ { // a minority, a majority, all
		key := newKey(t)
		each(t, (*servers.Proxy).DropReplies, d.proxies[:lost]...)
		took := make(chan *Lease, 1)
		go func() {
			s, err := l.Acquire(t.Context(), Key(key))
			if err != nil {
				t.Error(err)
			}
			took <- s
		}()
		if !rest(t.Context(), 150*time.Millisecond) {
			return
		}
		d.heal(t)
		s := <-took
		if s == nil {
			return
		}
		// Where the reply was lost, too, the grant is this lease's and no other's.
		eventually(t, "all nodes have the token", func() bool {
			_ = s.Check(t.Context())
			for i := range r.servers {
				if !strings.Contains(r.record(t, i, key), ":"+strconv.FormatInt(s.Token(), 10)+":1:") {
					return false
				}
			}
			return true
		})
		if _, err := rival.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrHeld) {
			t.Errorf("%d replies lost: a rival hears %v", lost, err)
		}
		release(t, s, Released)
		free(t, rival, key)
	}
}

func TestANodeThatSwallowsEverythingCostsOneTimeoutAndNoMore(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*testing.T, rig, door, int){
		"dropped packets": func(t *testing.T, _ rig, d door, i int) { each(t, (*servers.Proxy).BlackHole, d.proxies[i]) },
		"dropped replies": func(t *testing.T, _ rig, d door, i int) { each(t, (*servers.Proxy).DropReplies, d.proxies[i]) },
		"paused": func(t *testing.T, r rig, _ door, i int) {
			if err := r.servers[i].Pause(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 3)
			d := r.door(t)
			l := hastyLocker(t, d.nodes)
			warm(t, l)
			silence(t, r, d, 0)
			warm(t, l) // the first may cost more
			costsNoTimeout(t, l)
			silence(t, r, d, 1)
			start := time.Now()
			if _, err := l.TryAcquire(t.Context(), Key(newKey(t))); !errors.Is(err, ErrNoQuorum) || time.Since(start) < mostOfATimeout {
				t.Errorf("control: two of three: %v after %v", err, time.Since(start))
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		urls := newRig(t, 2).direct()
		l := hastyLocker(t, append(urls, URLs("n2=redis://"+servers.DeadAddr(t))...))
		warm(t, l)
		costsNoTimeout(t, l)
	})
}

// mostOfATimeout is half the node timeout of hastyLocker: whoever waits for a dead
// node takes longer.
const mostOfATimeout = 100 * time.Millisecond

// costsNoTimeout measures acquire, check, extension and release. A loaded machine
// may hold up a few of them, and a timeout would hold up each.
func costsNoTimeout(t *testing.T, l *Locker) {
	t.Helper()
	const rounds, mercy = 15, 3
	slow, worst := 0, time.Duration(0)
	timed := func(f func() error) {
		start := time.Now()
		err := f()
		took := time.Since(start)
		worst = max(worst, took)
		if took > mostOfATimeout || err != nil {
			slow++
		}
	}
	kept := await(t, l, Key(newKey(t)))
	for range rounds {
		var s *Lease
		timed(func() error { s = await(t, l, Key(newKey(t))); return nil })
		timed(func() error { return s.Check(t.Context()) })
		timed(func() error { _, err := s.Release(t.Context()); return err })
		rest(t.Context(), 40*time.Millisecond) // for half a TTL in all, so that an extension has its turn
	}
	if slow > mercy {
		t.Errorf("%d of %d steps failed or took more than %v, the worst %v", slow, 3*rounds, mostOfATimeout, worst)
	}
	if err := kept.Err(); err != nil {
		t.Error("a lease that needed extensions:", err)
	}
	_, _ = kept.Release(t.Context())
}

func TestACallerThatLeavesWhileTheReplyIsInFlightLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	const inFlight = 300 * time.Millisecond
	r := newRig(t, 3)
	d := r.door(t)
	long := func(c *Config) { c.TTL, c.MaxTTL = 5*time.Second, 5*time.Second }
	l, rival := rigLocker(t, d.nodes, long), rigLocker(t, r.direct(), long)
	each(t, func(p *servers.Proxy) error { return p.Slow(inFlight) }, d.proxies...)
	key := newKey(t)
	ctx, cancel := context.WithTimeout(t.Context(), inFlight/6)
	defer cancel()
	left := time.Now()
	if _, err := l.TryAcquire(ctx, Key(key)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNoQuorum) {
		t.Fatal(err)
	}
	if took := time.Since(left); took >= inFlight {
		t.Errorf("returned after %v", took)
	}
	if _, err := rival.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrHeld) {
		t.Error("control: the nodes have granted it:", err)
	}
	free(t, rival, key)
	if took := time.Since(left); took > inFlight+2*time.Second {
		t.Errorf("free after %v", took)
	}
	rest(t.Context(), 2*time.Second) // an extension would be due
	release(t, take(t, rival, Key(key)), Released)
}

func TestAPartitionWithoutAResetEndsTheHolderBeforeItsRival(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"from a majority": 2, "from all": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 3)
			d := r.door(t)
			l, rival := rigLocker(t, d.nodes), rigLocker(t, r.direct())
			key := newKey(t)
			s := await(t, l, Key(key))
			each(t, (*servers.Proxy).BlackHole, d.proxies[:n]...)
			next := await(t, rival, Key(key))
			if s.Context().Err() == nil {
				t.Error("two hold it")
			}
			if lost, ok := errors.AsType[*LostError](context.Cause(s.Context())); !ok || lost.Why != LostExpired {
				t.Error(context.Cause(s.Context()))
			}
			if next.Token() <= s.Token() || !next.Abandoned() {
				t.Error(next.Token(), s.Token(), next.Abandoned())
			}
			d.heal(t)
			if got, err := s.Release(t.Context()); got != Expired || err != nil {
				t.Error(got, err)
			}
			if err := next.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAReleaseWhoseReplyWasLostLeavesTheNextLeaseAloneWhenSaidAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	d := r.door(t)
	l, key := rigLocker(t, d.nodes), newKey(t)
	old := await(t, l, Key(key))
	each(t, (*servers.Proxy).DropReplies, d.proxies...)
	if got, err := old.Release(t.Context()); got != Unknown || !errors.Is(err, ErrUnknown) {
		t.Fatal(got, err)
	}
	d.heal(t)
	next := await(t, l, Key(key))
	if got, err := old.Release(t.Context()); got == Unknown {
		t.Error(got, err)
	}
	rest(t.Context(), 500*time.Millisecond) // also what the nodes are still told of it
	if err := next.Check(t.Context()); err != nil {
		t.Error(err)
	}
	release(t, next, Released)
}
