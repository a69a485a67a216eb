package lock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
)

var alsoAccount = lock.Also(func(c charge) []string { return []string{"account/" + c.Account} })

func TestTheHandlerSeesItsTenure(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		var got holdfast.Tenure
		var leased bool
		h := &handler{do: func(ctx context.Context) error {
			got, _ = holdfast.TenureFrom(ctx)
			_, leased = redlock.LeaseFrom(ctx)
			return nil
		}}
		if err := deliver(t, guarded(n.locker(t), h, alsoAccount), delivery("ch_1", "a1")); err != nil {
			t.Fatal(err)
		}
		if keys := strings.Join(got.Keys, " "); keys != "j/charge/ch_1 r/account/a1" || got.Token <= 0 || got.Abandoned || !leased {
			t.Errorf("tenure %+v, lease %v", got, leased)
		}
	})
}

func TestADuplicateIsAcknowledgedWithTheStoredResult(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		h := &handler{do: func(ctx context.Context) error { return holdfast.SetResult(ctx, "receipt 7") }}
		if err := deliver(t, guarded(n.locker(t), h), delivery("ch_1", "a1")); err != nil {
			t.Fatal(err)
		}
		again := delivery("ch_1", "a1")
		again.Queue = "other" // through another queue, to another worker
		if err := deliver(t, guarded(n.locker(t), h), again); err != nil {
			t.Fatal(err)
		}
		if runs := h.runs.Load(); runs != 1 || string(again.Result()) != `"receipt 7"` {
			t.Errorf("ran %d times, the duplicate's result is %q", runs, again.Result())
		}
		want(t, deliver(t, guarded(n.locker(t), h), delivery("ch_1", "a2")), retry.KindNever, holdfast.ErrMismatch)
	})
}

func TestAForeignIDIsNoIdempotencyKey(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l, h := n.locker(t), &handler{}
		for range 2 {
			job := delivery("ch_1", "a1")
			job.Foreign = true
			if err := deliver(t, guarded(l, h), job); err != nil {
				t.Fatal(err)
			}
		}
		if runs := h.runs.Load(); runs != 2 {
			t.Errorf("a reused ID ran %d times, want 2", runs)
		}
	})
}

// Whatever the queue accepts can be locked.
func TestTheLongestKindAndIDMakeAKey(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		h := &handler{}
		job := delivery(strings.Repeat("i", holdfast.MaxJobIDLen), "a1")
		job.Kind = strings.Repeat("k", holdfast.MaxKindLen)
		want(t, deliver(t, guarded(n.locker(t), h), job), retry.KindDone, nil)
		foreign := delivery(strings.Repeat("\x00", 1000), "a1")
		foreign.Foreign = true
		want(t, deliver(t, guarded(n.locker(t), h), foreign), retry.KindDone, nil)
		if runs := h.runs.Load(); runs != 2 {
			t.Errorf("ran %d times", runs)
		}
	})
}

func TestAFailureFreesTheLockAndGoesOnUnchanged(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l, h := n.locker(t), &handler{}
		for _, failure := range []error{errDeclined, retry.Never(errDeclined), retry.After(errDeclined, time.Hour)} {
			h.do = func(context.Context) error { return failure }
			if err := deliver(t, guarded(l, h, alsoAccount), delivery("ch_1", "a1")); err != failure {
				t.Errorf("got %v, want %v itself", err, failure)
			}
		}
		hold(t, l, "j/charge/ch_1", "r/account/a1")()
	})
}

func TestAPanicFreesTheLockAndGoesOn(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		h := guarded(l, &handler{do: func(context.Context) error { panic("boom") }})
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = deliver(t, h, delivery("ch_1", "a1"))
		}()
		hold(t, l, "j/charge/ch_1")()
	})
}

func TestResourcesThatCannotBeKeysArchiveTheJob(t *testing.T) {
	onEachKind(t, func(t *testing.T, n nodes) {
		l := n.locker(t)
		for name, names := range map[string][]string{
			"empty":    {""},
			"too long": {strings.Repeat("x", 511)},
			"too many": strings.Split("a b c d e f g h i j k l m n o p", " "),
		} {
			h := &handler{}
			err := deliver(t, guarded(l, h, lock.Also(func(charge) []string { return names })), delivery("ch_1", "a1"))
			if _, bad := errors.AsType[*holdfast.FieldError](err); !bad || retry.Of(err).Kind != retry.KindNever || h.runs.Load() != 0 {
				t.Errorf("%s: got %v after %d runs", name, err, h.runs.Load())
			}
		}
		untyped := lock.Middleware(l, alsoAccount)(holdfast.Route{}, &handler{})
		job := delivery("ch_1", "a1")
		job.Args = nil
		if err := deliver(t, untyped, job); retry.Of(err).Kind != retry.KindNever || !strings.Contains(err.Error(), "Also takes") {
			t.Errorf("an untyped delivery under Also: %v", err)
		}
	})
}
