package redlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holdfastjobs/holdfast"
)

// journal is what workers did and when, key by key, with the database that their
// effects go to. All of them have one clock: they are one process.
type journal struct {
	start time.Time

	mu      sync.Mutex
	ops     map[string][]porcupine.Operation
	written map[string]int64 // key: the highest token the database took
	lives   map[int]int      // slot: which job of it is worked on, since a finished one never runs again
	ended   map[string]int   // how tenures ended: how many
}

func newJournal() *journal {
	return &journal{
		start: time.Now(), ops: map[string][]porcupine.Operation{}, written: map[string]int64{},
		lives: map[int]int{}, ended: map[string]int{},
	}
}

func (j *journal) now() int64 { return int64(time.Since(j.start)) }

func (j *journal) add(worker int, key string, o lockOp, called, returned int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ops[key] = append(j.ops[key], porcupine.Operation{ClientId: worker, Input: o, Call: called, Return: returned})
}

// write is the database: it takes what carries the highest token so far, or that
// token again.
func (j *journal) write(key string, token int64) (refused bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	refused = token < j.written[key]
	j.written[key] = max(j.written[key], token)
	return refused
}

func (j *journal) key(tb testing.TB, slot int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("%s/%d.%d", tb.Name(), slot, j.lives[slot])
}

func (j *journal) over(how string, slot int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended[how]++
	if how == "finished" {
		j.lives[slot]++
	}
}

func (j *journal) released() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended["released"]
}

// worker is a process that takes one lock after the other.
type worker struct {
	tb       testing.TB
	id       int
	j        *journal
	open     func() *Locker
	slots    int
	finishes bool // jobs have completion records; they outlive restarts only on disk
}

func (w worker) run(ctx context.Context) {
	l := w.open()
	defer func() { _ = l.Close() }()
	for ctx.Err() == nil {
		slot := rand.IntN(w.slots)
		claim := Claim{Keys: []string{w.j.key(w.tb, slot)}, Wait: 500 * time.Millisecond}
		if w.finishes {
			claim.Record = claim.Keys[0]
		}
		called := w.j.now()
		s, err := l.Acquire(ctx, claim)
		switch {
		case errors.Is(err, ErrDone):
			w.j.add(w.id, claim.Keys[0], lockOp{kind: opDone}, called, w.j.now())
			w.j.over("finished", slot) // by one whose outcome is unknown
			continue
		case err != nil:
			rest(ctx, 5*time.Millisecond)
			continue
		}
		w.j.add(w.id, s.Keys()[0], lockOp{kind: opAcquire, token: s.Token()}, called, w.j.now())
		seen := w.effects(ctx, s)
		if how := w.end(ctx, l, s, seen); how != "" {
			w.j.over(how, slot)
			if how == "crashed" {
				l = w.open()
			}
		}
	}
}

// effects writes a few times, and returns when the lease was last seen live.
func (w worker) effects(ctx context.Context, s *Lease) (seen int64) {
	key := s.Keys()[0]
	seen = w.j.now()
	for range 1 + rand.IntN(4) {
		called := w.j.now()
		refused := w.j.write(key, s.Token())
		returned := w.j.now()
		o := lockOp{kind: opWrite, token: s.Token(), refused: refused, live: s.Context().Err() == nil}
		if o.live {
			seen = returned
		}
		w.j.add(w.id, key, o, called, returned)
		if !o.live {
			return seen
		}
		if rand.IntN(4) == 0 {
			_ = s.Check(ctx)
		}
		hold := rand.N(10 * time.Millisecond)
		if rand.IntN(40) == 0 {
			hold = rand.N(time.Second) // past an extension
		}
		rest(s.Context(), hold)
	}
	return seen
}

// end ends the tenure in one of the ways that tenures end.
func (w worker) end(ctx context.Context, l *Locker, s *Lease, seen int64) string {
	key, o := s.Keys()[0], lockOp{kind: opEnd, token: s.Token()}
	called := w.j.now()
	if s.Context().Err() != nil {
		w.j.add(w.id, key, o, seen, called)
		_, _ = s.Release(ctx)
		return "lost"
	}
	switch n := rand.IntN(20); {
	case n == 0:
		_ = l.Close() // ends the context and tells no node
		w.j.add(w.id, key, o, called, w.j.now())
		return "crashed"
	case n < 4 && w.finishes:
		err := s.Finish(ctx, holdfast.Record{}, 0)
		o.unsure = errors.Is(err, ErrUnknown)
		if err == nil || o.unsure {
			o.kind = opFinish
		}
		w.j.add(w.id, key, o, called, w.j.now())
		if err == nil {
			return "finished"
		}
		return "unfinished"
	}
	_, _ = s.Release(ctx)
	w.j.add(w.id, key, o, called, w.j.now())
	return "released"
}
