package redlock

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// everywhere waits until the nodes that were not needed have answered, too.
func everywhere(s *Lease) *Lease {
	calm(s.l)
	return s
}

// counted waits until every node has counted waiter w1 so often, under a key.
func counted(tb testing.TB, l *Locker, want int, keys ...string) {
	tb.Helper()
	eventually(tb, "counted everywhere", func() bool {
		for _, n := range l.nodes {
			has := func(key string) bool {
				return strings.HasPrefix(n.client().HGet(tb.Context(), l.waitersKey(key), "w1").Val(), strconv.Itoa(want)+":")
			}
			if !slices.ContainsFunc(keys, has) {
				return false
			}
		}
		return true
	})
}

func contentionIsCounted(t *testing.T, nodes []Node) {
	l, a, b := newLocker(t, nodes), newKey(t), newKey(t)
	claim := Claim{Keys: []string{a, b}, Waiter: "w1"}
	checked, err := claim.checked(l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	holder := everywhere(take(t, l, Key(a)))
	var first time.Time
	for want := 1; want <= 3; want++ {
		visit := newNonce()
		for range want { // many tries of one call count once
			_, err = l.try(t.Context(), checked, visit, &sighting{})
		}
		held, ok := errors.AsType[*HeldError](err)
		if !ok || held.Count != want || held.Since.IsZero() {
			t.Fatalf("want count %d: %+v", want, held)
		}
		counted(t, l, want, a)
		if want == 1 {
			first = held.Since
		}
		if held.Since.Sub(first).Abs() > time.Second {
			t.Fatalf("since %v, first %v", held.Since, first)
		}
	}
	// Another key of the same claim goes on counting; another waiter does not.
	other := everywhere(take(t, l, Key(b)))
	release(t, holder, Released)
	if _, err := l.TryAcquire(t.Context(), Claim{Keys: []string{b}, Waiter: "w2"}); func() int { h, _ := errors.AsType[*HeldError](err); return h.Count }() != 1 {
		t.Fatal(err)
	}
	_, err = l.TryAcquire(t.Context(), claim)
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Count != 4 || held.Key != b {
		t.Fatalf("%+v", err)
	}
	counted(t, l, 4, a, b) // under a where the first holder's release came late
	release(t, other, Released)
	s := await(t, l, claim)
	if s.Contentions() != 4 || s.Since().Sub(first).Abs() > time.Second {
		t.Fatal(s.Contentions(), s.Since(), first)
	}
	release(t, s, Released)
	// A slow node may hear of an earlier try after the release, and counts it anew:
	// the next grant takes that away, too.
	eventually(t, "every node forgets the count", func() bool {
		release(t, await(t, l, claim), Released)
		left := 0
		for _, n := range l.nodes {
			left += len(n.client().HKeys(t.Context(), l.waitersKey(a)).Val()) + len(n.client().HGet(t.Context(), l.waitersKey(b), "w1").Val())
		}
		return left == 0
	})
	if s := await(t, l, claim); s.Contentions() != 0 || !s.Since().IsZero() {
		t.Fatal("a grant did not forget the count:", s.Contentions())
	}
}

func diedIsTold(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	dead := take(t, l, Key(key))
	if dead.Abandoned() {
		t.Fatal("control: nobody died")
	}
	stall(dead)
	expire(t, dead)
	next, err := l.Acquire(t.Context(), Key(key))
	if err != nil || !next.Abandoned() {
		t.Fatal(err, "the next holder does not hear of the death")
	}
	if tenure, _ := holdfast.TenureFrom(next.Context()); !tenure.Abandoned {
		t.Fatal("nor does its handler")
	}
	release(t, next, Released)
	if s := take(t, l, Key(key)); s.Abandoned() {
		t.Fatal("a release is taken for a death")
	}
}

func releaseWakes(t *testing.T, nodes []Node) {
	l, holder, key := newLocker(t, nodes), newLocker(t, nodes), newKey(t)
	first, second := l.wakes.join([]string{key}), l.wakes.join([]string{key})
	defer l.wakes.leave(second)
	eventually(t, "a release is heard of", func() bool { // once the subscription stands
		free(t, holder, key)
		return len(first.woken) > 0
	})
	l.wakes.leave(first)
	eventually(t, "the wake that the first did not use is handed on", func() bool { return len(second.woken) > 0 })
}

func nobodyOverlaps(t *testing.T, nodes []Node) {
	const workers = 10
	l, shared := newLocker(t, nodes), newKey(t)
	if most := busiest(t, l, workers, time.Millisecond, func(int) string { return shared }); most != 1 {
		t.Fatalf("%d inside at once", most)
	}
	if most := busiest(t, l, workers, 200*time.Millisecond, func(int) string { return newKey(t) }); most < 2 {
		t.Fatal("control: without exclusion they should overlap")
	}
}

// A wait that has an end answers with its last try, and neither counts twice nor
// touches the lease that it did get.
func waitEnds(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	holder := everywhere(take(t, l, Key(key)))
	claim := Claim{Keys: []string{key}, Waiter: "w1", Wait: 80 * time.Millisecond}
	_, err := l.Acquire(t.Context(), claim)
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Count != 1 {
		t.Fatalf("after the wait: %+v", err)
	}
	release(t, holder, Released)
	lease, err := l.Acquire(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * claim.Wait)
	if err := lease.Context().Err(); err != nil {
		t.Errorf("the lease ended with the wait: %v", err)
	}
	release(t, lease, Released)
}

// Who waited for a lock of its own would wait for itself.
func nestedIsRefused(t *testing.T, nodes []Node) {
	l, a, b := newLocker(t, nodes), newKey(t), newKey(t)
	outer := take(t, l, Key(a))
	other, err := l.TryAcquire(outer.Context(), Key(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{a, b} {
		if _, err := l.Acquire(other.Context(), Key(newKey(t), key)); !errors.Is(err, ErrNested) || !strings.Contains(err.Error(), key) {
			t.Errorf("acquire %q below a lease on it: %v", key, err)
		}
	}
	release(t, other, Released)
	release(t, take(t, l, Key(b)), Released)
	release(t, outer, Released)
}
