package redlock

import (
	"errors"
	"testing"

	"github.com/holdfastjobs/holdfast"
)

func stopServers() {}

func TestSmoke(t *testing.T) {
	l := newLocker(t, addresses(minis(t, 3)))
	k := newKey(t)
	c := Claim{Keys: []string{k}, Record: k, Waiter: "w"}
	lease, err := l.TryAcquire(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.TryAcquire(t.Context(), c)
	if !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
	t.Log(err)
	if err := lease.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lease.Finish(t.Context(), holdfast.Record{Hash: "h", Result: []byte("a:\x00b")}, 0); err != nil {
		t.Fatal(err)
	}
	_, err = l.TryAcquire(t.Context(), c)
	if !errors.Is(err, ErrDone) {
		t.Fatal(err)
	}
	t.Log(l.Record(t.Context(), k))
}
