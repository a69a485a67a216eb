package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

func TestContentionGoesBackUncountedAndTheNodesCountIt(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		release := hold(t, n.locker(t), "j/charge/ch_1")
		h := &handler{}
		// Each delivery goes to another process. A node that misses one for lack of
		// time counts late, so a delay may come twice, and never skips or falls.
		delay := time.Duration(0)
		for tries := 0; delay < 8*time.Second; tries++ {
			err := deliver(t, guarded(n.locker(t), h, impatient), delivery("ch_1", "a1"))
			want(t, err, retry.KindLater, lock.ErrContended)
			got := retry.Of(err).Delay
			if got != delay && got != max(time.Second, 2*delay) || tries == 12 {
				t.Fatalf("delay %v after %v, in delivery %d", got, delay, tries+1)
			}
			delay = got
		}
		release()
		if err := deliver(t, guarded(n.locker(t), h), delivery("ch_1", "a1")); err != nil || h.runs.Load() != 1 {
			t.Errorf("after the release: %v, %d runs", err, h.runs.Load())
		}
	})
}

func TestJobsThatShareAResourceContend(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		var inside, outside error
		h := &handler{}
		h.do = func(context.Context) error {
			inside = deliver(t, guarded(l, &handler{}, alsoAccount, impatient), delivery("ch_2", "a1"))
			outside = deliver(t, guarded(l, &handler{}, alsoAccount), delivery("ch_3", "a2"))
			return nil
		}
		if err := deliver(t, guarded(l, h, alsoAccount), delivery("ch_1", "a1")); err != nil {
			t.Fatal(err)
		}
		want(t, inside, retry.KindLater, lock.ErrContended)
		want(t, outside, retry.KindDone, nil)
	})
}

func TestAJobMayWaitInPlace(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		release := hold(t, n.locker(t), "j/charge/ch_1")
		impatient := deliver(t, guarded(n.locker(t), &handler{}, lock.InPlace(60*time.Millisecond)), delivery("ch_1", "a1"))
		want(t, impatient, retry.KindLater, lock.ErrContended)
		if got := retry.Of(impatient).Delay; got != time.Second {
			t.Errorf("the tries of one wait count as one: delay %v, want 1s", got)
		}
		time.AfterFunc(50*time.Millisecond, release)
		if err := deliver(t, guarded(n.locker(t), &handler{}, lock.InPlace(5*time.Second)), delivery("ch_1", "a1")); err != nil {
			t.Error(err)
		}
	})
}

func TestACorneredJobWaitsInPlaceUnasked(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		release := hold(t, n.locker(t), "j/charge/ch_1")
		time.AfterFunc(50*time.Millisecond, release)
		job := delivery("ch_1", "a1")
		job.Foreign, job.Cornered = true, true
		if err := deliver(t, guarded(n.locker(t), &handler{}), job); err != nil {
			t.Error(err)
		}
	})
}

func TestMaxWaitArchives(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		defer hold(t, n.locker(t), "j/charge/ch_1")()
		h := guarded(n.locker(t), &handler{}, impatient, lock.MaxWait(300*time.Millisecond))
		want(t, deliver(t, h, delivery("ch_1", "a1")), retry.KindLater, lock.ErrContended)
		<-time.After(400 * time.Millisecond)
		want(t, deliver(t, h, delivery("ch_1", "a1")), retry.KindNever, lock.ErrWaitedTooLong)
	})
}

func TestAStopWhileWaitingPutsTheJobBack(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		defer hold(t, n.locker(t), "j/charge/ch_1")()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := guarded(n.locker(t), &handler{}, lock.InPlace(5*time.Second)).Handle(ctx, delivery("ch_1", "a1"))
		if got := retry.Of(err).Kind; got != retry.KindLater {
			t.Errorf("got %v (%v), want later", got, err)
		}
	})
}

func TestTheHandlerLearnsThatTheHolderBeforeDied(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		cfg := n.config()
		cfg.TTL = 200 * time.Millisecond
		dead, err := redlock.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		hold(t, dead, "j/charge/ch_1")
		if err := dead.Close(); err != nil { // without a release, as a killed process ends
			t.Fatal(err)
		}
		var abandoned bool
		h := &handler{do: func(ctx context.Context) error {
			lease, _ := redlock.LeaseFrom(ctx)
			abandoned = lease.Abandoned()
			return nil
		}}
		if err := deliver(t, guarded(n.locker(t), h, lock.InPlace(5*time.Second)), delivery("ch_1", "a1")); err != nil || !abandoned {
			t.Errorf("got %v, abandoned %v", err, abandoned)
		}
	})
}
