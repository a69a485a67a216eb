package redlock

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
)

func voidLetsItRunAgain(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	if err := take(t, l, job(key)).Finish(t.Context(), holdfast.Record{Hash: "first"}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), job(key)); !errors.Is(err, ErrDone) {
		t.Fatal("control:", err)
	}
	if err := l.Void(t.Context(), key, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal("still done:", ok, err)
	}
	if err := await(t, l, job(key)).Finish(t.Context(), holdfast.Record{Hash: "again"}, 0); err != nil {
		t.Fatal(err)
	}
	if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || r.Hash != "again" {
		t.Fatal(r, ok, err)
	}
}

// Nobody may finish while a record is being taken back.
func voidWaitsForTheHolder(t *testing.T, nodes []Node) {
	l, key := newLocker(t, nodes), newKey(t)
	s := take(t, l, job(key))
	ended := make(chan error, 1)
	go func() { ended <- l.Void(t.Context(), key, 0) }()
	pause(t.Context(), 30*time.Millisecond)
	select {
	case err := <-ended:
		t.Fatal("void beside a holder:", err)
	default:
	}
	if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	release(t, await(t, l, job(key)), Released)
}
