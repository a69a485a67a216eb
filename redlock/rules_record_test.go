package redlock

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
)

func job(key string) Claim { return Claim{Keys: []string{key}, Record: key} }

// expire makes the grants of a one-key lease run out on every node, now.
func expire(tb testing.TB, s *Lease) {
	tb.Helper()
	l, key := s.l, s.try.claim.Keys[0]
	held := regexp.MustCompile(`^(\d+:\d+:1:)\d+`)
	calm(l)
	for _, n := range l.nodes {
		r, err := n.get(tb.Context(), l.recordKey(key))
		if err != nil {
			tb.Fatal(err)
		}
		if err := n.client().Set(tb.Context(), l.recordKey(key), held.ReplaceAllString(r, "${1}1"), time.Minute).Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

func completionAnswers(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal("control:", ok, err)
	}
	s := take(t, l, job(key))
	before := time.Now()
	if err := s.Finish(t.Context(), holdfast.Record{Hash: "h1", Result: []byte("42")}, time.Minute); err != nil {
		t.Fatal(err)
	}
	_, err := l.TryAcquire(t.Context(), job(key))
	doneErr, ok := errors.AsType[*DoneError](err)
	if !ok || !errors.Is(err, ErrDone) || doneErr.Key != key {
		t.Fatal(err)
	}
	r, ok, err := l.Record(t.Context(), key)
	if !ok || err != nil || fmt.Sprint(r) != fmt.Sprint(doneErr.Record) {
		t.Fatal(r, ok, err)
	}
	if r.Token != s.Token() || r.Hash != "h1" || string(r.Result) != "42" || r.At.Sub(before).Abs() > time.Second {
		t.Fatalf("%+v", r)
	}
	release(t, s, Released)
	// Without a record key it is a lock and nothing else.
	release(t, take(t, l, Key(key)), Released)
}

// Redis counts lifetimes in whole milliseconds and refuses fractions; a third of
// 100 s has one, also below the microsecond.
func timesAreNotWhole(t *testing.T, nodes []Node) {
	const third = 100 * time.Second / 3
	for _, fence := range []time.Duration{0, 2*time.Minute + 500*time.Microsecond, 2*time.Minute + time.Nanosecond} {
		l, key := newLocker(t, nodes, func(c *Config) {
			c.TTL, c.MaxTTL, c.FenceTTL, c.Retention, c.WaiterTTL = third, third, fence, third, third
		}), newKey(t)
		c := Claim{Keys: []string{key}, Record: key, Waiter: "w1"}
		s := everywhere(take(t, l, c))
		if _, err := l.TryAcquire(t.Context(), c); !errors.Is(err, ErrHeld) {
			t.Fatal(err)
		}
		counted(t, l, 1, key)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{l.recordKey(key), l.waitersKey(key)} {
			if left := l.nodes[0].client().PTTL(t.Context(), name).Val(); left < third-5*time.Second {
				t.Errorf("%s lives for %v", name, left)
			}
		}
		if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func resultIsBinary(t *testing.T, nodes []Node) {
	l := newLocker(t, nodes)
	raw := bytes.Repeat([]byte{0, ':', '\n', 0xff}, holdfast.MaxResult/4)
	for _, result := range [][]byte{nil, []byte(":"), raw} {
		key := newKey(t)
		if err := take(t, l, job(key)).Finish(t.Context(), holdfast.Record{Result: result}, 0); err != nil {
			t.Fatal(err)
		}
		if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || !bytes.Equal(r.Result, result) || r.Hash != "" {
			t.Fatal(len(r.Result), ok, err)
		}
	}
	s := take(t, l, job(newKey(t)))
	if err := s.Finish(t.Context(), holdfast.Record{Result: append(raw, 0)}, 0); err == nil || s.Context().Err() != nil {
		t.Fatal("more than 64 KiB:", err)
	}
	release(t, s, Released)
}

func finishTwice(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, job(key))
	for range 2 {
		if err := s.Finish(t.Context(), holdfast.Record{Hash: "h"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	// On the nodes too: its reply was lost, and it is sent again.
	if _, err := l.finishOutcome(s.try.settle(*s.last, l.cfg.Clock.Now()), key); err != nil {
		t.Fatal(err)
	}
	other := take(t, l, job(newKey(t)))
	release(t, other, Released)
	if err := other.Finish(t.Context(), holdfast.Record{}, 0); !errors.Is(err, ErrStale) {
		t.Fatal("finish after release:", err)
	}
}

// A node may have stopped in the middle: the record is there, the keys are held.
func finishFreesTheRest(t *testing.T, nodes []Node) {
	l, a, b := newLocker(t, nodes, func(c *Config) { c.TTL = c.MaxTTL }), newKey(t), newKey(t)
	s := everywhere(take(t, l, Claim{Keys: []string{a, b}, Record: a}))
	writeDone(t, l, a, len(nodes), completion{kind: kindDone, record: holdfast.Record{Token: s.Token()}}.text())
	if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{a, b} {
		if _, err := l.Acquire(t.Context(), Claim{Keys: []string{k}, Wait: l.cfg.TTL / 2}); err != nil {
			t.Error(err)
		}
	}
}

func finishAfterTakeover(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	old := take(t, l, job(key))
	stall(old)
	expire(t, old)
	next, err := l.Acquire(t.Context(), job(key))
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Finish(t.Context(), holdfast.Record{Hash: "old"}, 0); !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal("the stale one recorded:", err)
	}
	if err := next.Finish(t.Context(), holdfast.Record{Hash: "next"}, 0); err != nil {
		t.Fatal(err)
	}
	if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || r.Hash != "next" {
		t.Fatal(r, ok, err)
	}
}

func finishAfterExpiry(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, job(key))
	expire(t, s)
	if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), job(key)); !errors.Is(err, ErrDone) {
		t.Fatal(err)
	}
}

// writeDone puts a completion record on the first n nodes.
func writeDone(tb testing.TB, l *Locker, key string, n int, text string) {
	tb.Helper()
	for _, n := range l.nodes[:n] {
		if err := n.client().Set(tb.Context(), l.doneKey(key), text, time.Minute).Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

func voidIsNone(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	writeDone(t, l, key, len(nodes), "4:done:0:0:h:r")
	if _, err := l.TryAcquire(t.Context(), job(key)); !errors.Is(err, ErrDone) {
		t.Fatal("control:", err)
	}
	writeDone(t, l, key, len(nodes), "6:void:0:0::")
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := take(t, l, job(key)).Finish(t.Context(), holdfast.Record{Hash: "again"}, 0); err != nil {
		t.Fatal(err)
	}
	if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || r.Hash != "again" {
		t.Fatal(r, ok, err)
	}
}

// A finish that reached too few nodes may have been told to whoever asked for it,
// or not: it is completed first, if anybody sees it in time.
func recordOnMinority(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	writeDone(t, l, key, l.need-1, "4:done:0:0:h:r")
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := l.Acquire(t.Context(), job(key))
	want := "h"
	if err == nil { // the others were quicker
		want = "new"
		err = s.Finish(t.Context(), holdfast.Record{Hash: "new"}, 0)
	} else if errors.Is(err, ErrDone) {
		err = nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || r.Hash != want {
		t.Fatal(r, ok, err)
	}
	// Control: one node more, and it is done.
	key = newKey(t)
	writeDone(t, l, key, l.need, "4:done:0:0:h:r")
	if _, err := l.TryAcquire(t.Context(), job(key)); !errors.Is(err, ErrDone) {
		t.Fatal(err)
	}
}
