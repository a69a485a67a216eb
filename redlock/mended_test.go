package redlock

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAVoidOfNoRetentionTakesNoLock(t *testing.T) {
	t.Parallel()
	l, key := newLocker(t, embeddedNodes(t, 3), quick), newKey(t)
	refused(t, l.Void(t.Context(), key, time.Millisecond), "retention")
	release(t, take(t, l, Key(key)), Released)
}

func TestARenewalThatIsNotDueIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, clock, l := bubble(t, 1)
		s := take(t, l, Claim{Keys: []string{"k"}, Stall: 200 * time.Millisecond})
		next := s.renew.Load()
		pause(t.Context(), 150*time.Millisecond)
		s.act(clock.Now(), longestTick) // it looked stalled, and then it beat
		if got := s.renew.Load(); got != next || got == math.MaxInt64 {
			t.Fatalf("the renewal at %v is now at %v", time.Duration(next), time.Duration(got))
		}
		release(t, s, Released)
	})
}

func TestAHealthyLeaseOutlivesTheContextItWasAcquiredWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := bubble(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		s, err := l.TryAcquire(ctx, Claim{Keys: []string{"k"}, Healthy: func(ctx context.Context) error { return ctx.Err() }})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		pause(t.Context(), 5*l.cfg.TTL)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		release(t, s, Released)
	})
}

func TestAReleaseIsHeardBesideAHigherAbandon(t *testing.T) {
	t.Parallel()
	l, key := newLocker(t, embeddedNodes(t, 3)), newKey(t)
	w := l.wakes.join([]string{key})
	defer l.wakes.leave(w)
	l.wakes.heard(2, l.channel(key), "100") // a loser's, where it alone was granted
	l.wakes.heard(0, l.channel(key), "90")
	if len(w.woken) != 0 {
		t.Fatal("control: woken by a minority")
	}
	l.wakes.heard(1, l.channel(key), "90")
	if len(w.woken) != 1 {
		t.Fatal("the holder's release woke nobody")
	}
}

func TestABadURLWithAQuestionMarkInItsPasswordKeepsIt(t *testing.T) {
	_, err := New(Config{Nodes: URLs("redis://default:Sup3rS3cret?x@10.0.0.1:6379")})
	refused(t, err, "Nodes[0]")
	if err == nil || strings.Contains(err.Error(), "Sup3r") || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Fatal(err)
	}
}

func TestARecordThatAMajorityKeepsIsTheAnswerWhateverOneNodeHas(t *testing.T) {
	a := &attempt{claim: job("k")}
	tally := &tally{nodes: 3, need: 2, token: 10, votes: []vote{
		said(0, codeOK, "10", "0", "0", "9:void:0:0::"), said(1, codeDone, "4:done:0:0:h:r"), said(2, codeDone, "4:done:0:0:h:r"),
	}}
	if v := tally.verdict(); v != done {
		t.Fatal("control:", v)
	}
	a.note(tally)
	d, ok := errors.AsType[*DoneError](a.doneError(tally))
	if !ok || d.Record.Token != 4 || d.Record.Hash != "h" {
		t.Fatal(d)
	}
}
