package redlock

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/holdfastjobs/holdfast"
)

func take(tb testing.TB, l *Locker, c Claim) *Lease {
	tb.Helper()
	lease, err := l.TryAcquire(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return lease
}

// await is take for what may still meet the tail of the lease before: a release
// returns when a majority is free.
func await(tb testing.TB, l *Locker, c Claim) *Lease {
	tb.Helper()
	lease, err := l.Acquire(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return lease
}

// stall makes the process forget the lease, as one does that is paused: nothing
// extends or ends it.
func stall(s *Lease) { s.l.keeper.remove(s) }

// free waits until key can be taken, and gives it back.
func free(tb testing.TB, l *Locker, key string) {
	tb.Helper()
	release(tb, await(tb, l, Key(key)), Released)
}

func release(tb testing.TB, s *Lease, want Outcome) {
	tb.Helper()
	if got, err := s.Release(tb.Context()); got != want || (err != nil) != (want == Unknown) {
		tb.Fatalf("release: %q, %v; want %q", got, err, want)
	}
}

func oneWins(t *testing.T, nodes []Node) {
	l, other, key := newLocker(t, nodes), newLocker(t, nodes), newKey(t)
	lease := take(t, l, Key(key))
	_, err := other.TryAcquire(t.Context(), Key(key))
	held, ok := errors.AsType[*HeldError](err)
	if !ok || !errors.Is(err, ErrHeld) || held.Key != key || held.Token != lease.Token() || held.Left <= 0 || held.Left > l.cfg.TTL || held.Count != 0 {
		t.Fatalf("%+v", err)
	}
	tenure, ok := holdfast.TenureFrom(lease.Context())
	if !ok || tenure.Token != lease.Token() || tenure.Keys[0] != key || tenure.Abandoned {
		t.Fatalf("tenure: %+v", tenure)
	}
	if from, ok := LeaseFrom(lease.Context()); !ok || from != lease {
		t.Fatal("the context does not carry the lease")
	}
	release(t, lease, Released)
	if lease.Context().Err() == nil || lease.Err() != nil {
		t.Fatalf("after release: context %v, loss %v", lease.Context().Err(), lease.Err())
	}
}

func allOrNone(t *testing.T, nodes []Node) {
	l, a, b, c := newLocker(t, nodes), newKey(t), newKey(t), newKey(t)
	one := take(t, l, Key(b))
	_, err := l.TryAcquire(t.Context(), Key(a, b, c))
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Key != b {
		t.Fatalf("%v, want %q held", err, b)
	}
	for _, k := range []string{a, c} {
		release(t, await(t, l, Key(k)), Released)
	}
	release(t, one, Released)
	all := await(t, l, Key(a, b, c, a))
	if !slices.Equal(all.Keys(), []string{a, b, c}) {
		t.Fatal(all.Keys())
	}
	for _, k := range []string{a, b, c} {
		if _, err := l.TryAcquire(t.Context(), Key(k)); !errors.Is(err, ErrHeld) {
			t.Fatalf("%q: %v", k, err)
		}
	}
	release(t, all, Released)
	for _, k := range []string{a, b, c} {
		if s := await(t, l, Key(k)); s.Token() <= all.Token() {
			t.Fatalf("%q: token %d after %d", k, s.Token(), all.Token())
		}
	}
}

func releasedIsFree(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	for range 5 {
		release(t, take(t, l, Key(key)), Released)
	}
}

func releaseAfterExpiry(t *testing.T, nodes []Node) {
	clock := newHandClock()
	l, key := newLocker(t, nodes, func(c *Config) { c.Clock = clock }), newKey(t)
	s := take(t, l, Key(key))
	stall(s)
	clock.advance(l.cfg.TTL)
	release(t, s, Expired)
	release(t, s, Expired)
	if lost, ok := errors.AsType[*LostError](context.Cause(s.Context())); !ok || lost.Why != LostExpired || !errors.Is(lost, ErrLost) {
		t.Fatal(context.Cause(s.Context()))
	}
	// Control: in time, it is released. For this process all nodes have stepped.
	l = newLocker(t, nodes)
	free(t, l, key)
	release(t, take(t, l, Key(key)), Released)
}

func releaseWhenCancelled(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := l.TryAcquire(ctx, Key(key))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if !errors.Is(s.Context().Err(), context.Canceled) {
		t.Fatal("the lease's context outlives the caller's")
	}
	if got, err := s.Release(ctx); got != Released || err != nil {
		t.Fatal(got, err)
	}
	take(t, l, Key(key))
}

// A release whose reply was lost is said again after the key was taken again.
func releaseSaidAgain(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	old := take(t, l, Key(key))
	release(t, old, Released)
	next := take(t, l, Key(key))
	if o, _ := l.releaseOutcome(old.try.settle(settlement{mode: modeRelease}, l.cfg.Clock.Now())); o == Released {
		t.Fatal("the old lease released again")
	}
	if err := next.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
}

func extensionAfterRelease(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, Key(key))
	if why, err := extended(s); why != "" || err != nil {
		t.Fatal("control:", why, err)
	}
	release(t, s, Released)
	if why, err := extended(s); why != LostReleased || err != nil {
		t.Fatal(why, err)
	}
	take(t, l, Key(key))
}

func extensionAfterExpiry(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, Key(key))
	stall(s)
	expire(t, s)
	free(t, l, key) // another took it and gave it back
	if err := s.Check(t.Context()); !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	if why, err := extended(s); why == "" && err == nil {
		t.Fatal("extended after another's tenure")
	}
	take(t, l, Key(key))
}

func checkTells(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, Key(key))
	if err := s.Check(t.Context()); err != nil {
		t.Fatal("control:", err)
	}
	// Somebody's clock ran ahead: our grants ended early on the nodes, and another
	// holds the key.
	expire(t, s)
	thief := take(t, newLocker(t, nodes), Key(key))
	if err := s.Check(t.Context()); !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	if lost, ok := errors.AsType[*LostError](context.Cause(s.Context())); !ok || lost.Why != LostTaken {
		t.Fatal(context.Cause(s.Context()))
	}
	release(t, s, Expired)
	release(t, thief, Released)
}
