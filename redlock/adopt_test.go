package redlock

import (
	"errors"
	"testing"
)

func TestARecordOnAMinorityIsCompletedBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m), quick), newKey(t)
	writeDone(t, l, key, 1, "4:done:7:9000000000000:h:r")
	refuse(m[1], "OOM")
	if _, ok, err := l.Record(t.Context(), key); ok || err != nil {
		t.Fatal("two nodes that have none decide:", ok, err)
	}
	_, err := l.TryAcquire(t.Context(), job(key))
	done, ok := errors.AsType[*DoneError](err)
	if !ok || done.Record.Token <= 4 || done.Record.Hash != "h" || string(done.Record.Result) != "r" || done.Record.At.UnixMilli() != 7 {
		t.Fatal(err)
	}
	if r, ok, err := l.Record(t.Context(), key); !ok || err != nil || r.Token != done.Record.Token {
		t.Fatal("it was answered before it was committed:", r, ok, err)
	}
	free(t, l, key)
	m[1].Close()
	m[2].Close()
	if _, _, err := l.Record(t.Context(), key); !errors.Is(err, ErrNoQuorum) {
		t.Fatal("the silent nodes may have the same record:", err)
	}
}
