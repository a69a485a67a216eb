package redlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/holdfastjobs/holdfast"
)

// quick is for what runs out, or is cleaned up until it does.
func quick(c *Config) { c.TTL = time.Second }

// refuse makes a node answer every script with a Redis error.
func refuse(m *miniredis.Miniredis, msg string) {
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd == "EVALSHA" {
			p.WriteError(msg)
		}
		return cmd == "EVALSHA"
	})
}

// swallow makes a node take commands and answer none, until the returned
// function lets it go on: then it does, late, what it was asked.
func swallow(tb testing.TB, m *miniredis.Miniredis) (resume func()) {
	tb.Helper()
	gate, open := context.WithCancel(context.Background())
	m.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
		<-gate.Done()
		return false
	})
	tb.Cleanup(open)
	return func() {
		open()
		m.Server().SetPreHook(nil)
	}
}

func TestADeadNodeOfThreeDelaysNothing(t *testing.T) {
	t.Parallel()
	for fault, inflict := range map[string]func(testing.TB, *miniredis.Miniredis){
		"none, as a control": func(testing.TB, *miniredis.Miniredis) {},
		"stopped":            func(_ testing.TB, m *miniredis.Miniredis) { m.Close() },
		"swallows":           func(tb testing.TB, m *miniredis.Miniredis) { swallow(tb, m) },
		"refuses": func(_ testing.TB, m *miniredis.Miniredis) {
			refuse(m, "READONLY You can't write against a read only replica.")
		},
	} {
		t.Run(fault, func(t *testing.T) {
			m := minis(t)
			l, key := newLocker(t, addresses(m), quick), newKey(t)
			release(t, take(t, l, Key(key)), Released)
			inflict(t, m[1])
			release(t, await(t, l, Key(key)), Released) // the first may cost more
			for range 10 {
				start := time.Now()
				s := await(t, l, job(key))
				acquired := time.Now()
				if err := s.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
				checked := time.Now()
				release(t, s, Released)
				if took := max(acquired.Sub(start), checked.Sub(acquired), time.Since(checked)); took > l.cfg.NodeTimeout/2 {
					t.Errorf("acquire, check or release took %v of a node timeout of %v", took, l.cfg.NodeTimeout)
				}
			}
			finished := await(t, l, job(key)).Finish(t.Context(), holdfast.Record{}, 0)
			if _, ok, err := l.Record(t.Context(), key); !ok || err != nil || finished != nil {
				t.Fatal(ok, err, finished)
			}
		})
	}
}

func TestWithoutAMajorityEveryNodesAnswerIsTold(t *testing.T) {
	t.Parallel()
	for _, msg := range []string{
		"READONLY You can't write against a read only replica.", "OOM command not allowed when used memory > 'maxmemory'.",
		"LOADING Redis is loading the dataset in memory", "MISCONF Redis is configured to save RDB snapshots", "NOPERM this user has no permissions",
		"BUSY Redis is busy running a script.", "WRONGTYPE Operation against a key holding the wrong kind of value",
	} {
		code, _, _ := strings.Cut(msg, " ")
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			m := minis(t)
			l, key := newLocker(t, addresses(m), quick), newKey(t)
			refuse(m[0], msg)
			release(t, take(t, l, Key(key)), Released) // control: a minority hinders nobody
			refuse(m[2], msg)
			_, err := l.TryAcquire(t.Context(), Key(key))
			none, ok := errors.AsType[*NoQuorumError](err)
			if !ok || !errors.Is(err, ErrNoQuorum) || errors.Is(err, ErrHeld) || len(none.Answers) != 3 {
				t.Fatal(err)
			}
			for _, i := range []int{0, 2} {
				if a := none.Answers[i]; a.Err == nil || !strings.Contains(a.String(), code) || a.Node != l.nodes[i].name {
					t.Errorf("%+v", a)
				}
			}
			m[0].Server().SetPreHook(nil)
			free(t, l, key) // nothing stays behind
		})
	}
}

func TestTwoDeadNodesOfThreeAreNoQuorumAndNoDeadlineOfTheCaller(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m), quick), newKey(t)
	s := take(t, l, job(key))
	m[0].Close()
	swallow(t, m[1])
	_, err := l.TryAcquire(t.Context(), Key(newKey(t)))
	if !errors.Is(err, ErrNoQuorum) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n0: ") || !strings.Contains(err.Error(), "n1: ") {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, ErrNoQuorum) && !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	if _, _, err := l.Record(t.Context(), key); !errors.Is(err, ErrNoQuorum) {
		t.Fatal(err)
	}
	<-s.Context().Done() // silence ends it when its validity does
	if !errors.Is(context.Cause(s.Context()), ErrLost) {
		t.Fatal(context.Cause(s.Context()))
	}
	if err := s.Finish(t.Context(), holdfast.Record{}, 0); !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrNoQuorum) {
		t.Fatal(err)
	}
	if got, err := s.Release(t.Context()); got != Expired && !errors.Is(err, ErrUnknown) {
		t.Fatal(got, err)
	}
}

func TestACancelledCallerReturnsAtOnceAndLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m)), newKey(t)
	release(t, take(t, l, Key(key)), Released)
	resume := []func(){swallow(t, m[0]), swallow(t, m[1])}
	why := errors.New("the caller's own reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	start := time.Now()
	_, err := l.TryAcquire(ctx, Key(key))
	if took := time.Since(start); took > l.cfg.NodeTimeout/2 || !errors.Is(err, context.Canceled) || !errors.Is(err, why) || errors.Is(err, ErrNoQuorum) {
		t.Fatal(took, err)
	}
	for _, r := range resume { // now the late grants happen
		r()
	}
	start = time.Now()
	free(t, newLocker(t, addresses(m)), key)
	if took := time.Since(start); took > l.cfg.TTL/2 {
		t.Fatalf("an orphan held the key for %v", took)
	}
}

func TestALateGrantAddsMargin(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m)), newKey(t)
	free(t, l, key)
	resume := swallow(t, m[2])
	s := await(t, l, Key(key))
	granted := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.ends[2] > 0
	}
	if granted() {
		t.Fatal("control: the node has not answered yet")
	}
	resume()
	eventually(t, "the late grant counts", granted)
	release(t, s, Released)
}

func TestAnOwnMinorityDoesNotBlockTheOwnRetry(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m)), newKey(t)
	for i := range m {
		m[i].Server().SetPreHook(nil)
		refuse(m[(i+1)%3], "OOM")
		refuse(m[(i+2)%3], "OOM")
		if _, err := l.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrNoQuorum) {
			t.Fatal(err)
		}
	}
	for i := range m {
		m[i].Server().SetPreHook(nil)
	}
	s, err := l.Acquire(t.Context(), Key(key))
	if err != nil {
		t.Fatal(err)
	}
	release(t, s, Released)
}

func TestAMinorityGrantDoesNotForgetTheCount(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l, key := newLocker(t, addresses(m)), newKey(t)
	claim := Claim{Keys: []string{key}, Waiter: "w"}
	holder := everywhere(await(t, l, Key(key)))
	if _, err := l.TryAcquire(t.Context(), claim); !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
	for i := range m { // each node once forgets the holder, grants, and is abandoned
		eventually(t, "counted", func() bool {
			return l.nodes[i].client().HExists(t.Context(), l.waitersKey(key), "w").Val()
		})
		if err := l.nodes[i].client().Del(t.Context(), l.recordKey(key)).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.nodes[i].say(request{
			verb: verbAcquire, held: 1, keys: []any{l.recordKey(key), l.doneKey(key), l.waitersKey(key)},
			args: []any{"other", l.propose(l.clocks.nodeNow(), 0), "1", doneNone, "w", "v", micros(l.cfg.WaiterTTL)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	release(t, holder, Expired)
	if s := await(t, l, claim); s.Contentions() != 1 {
		t.Fatal(s.Contentions())
	}
}
