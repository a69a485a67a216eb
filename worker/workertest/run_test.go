package workertest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
	"github.com/holdfastjobs/holdfast/worker/workertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type charge struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount_cents"`
}

func (charge) Kind() string    { return "payments.charge" }
func (c charge) JobID() string { return c.ID }

var (
	ch1         = charge{ID: "ch_1", Amount: 500}
	errDeclined = errors.New("card declined")
	errGone     = errors.New("lock is gone")
)

func ok(context.Context, charge) error { return nil }

// ear hears what an assertion says.
type ear struct{ said []string }

func (*ear) Helper() {}

func (e *ear) Errorf(format string, args ...any) {
	e.said = append(e.said, fmt.Sprintf(format, args...))
}

func TestTheVerdictIsWhatTheQueueWouldBeTold(t *testing.T) {
	t.Parallel()
	last := func(job *holdfast.Job) { job.Attempt = job.MaxAttempts }
	for name, c := range map[string]struct {
		change func(*holdfast.Job)
		do     func(context.Context, charge) error
		want   retry.Kind
		why    error
		ran    bool
	}{
		"done":                     {do: ok, want: retry.KindDone, ran: true},
		"failed":                   {do: func(context.Context, charge) error { return errDeclined }, want: retry.KindRetry, why: errDeclined, ran: true},
		"failed at last":           {change: last, do: func(context.Context, charge) error { return errDeclined }, want: retry.KindNever, why: errDeclined, ran: true},
		"never":                    {do: func(context.Context, charge) error { return retry.Never(errDeclined) }, want: retry.KindNever, why: errDeclined, ran: true},
		"later, on the last":       {change: last, do: func(context.Context, charge) error { return retry.Later(errDeclined, time.Second) }, want: retry.KindLater, why: errDeclined, ran: true},
		"panic":                    {do: func(context.Context, charge) error { panic(errDeclined) }, want: retry.KindRetry, why: errDeclined, ran: true},
		"goexit":                   {do: func(context.Context, charge) error { runtime.Goexit(); return nil }, want: retry.KindRetry, why: worker.ErrGoexit, ran: true},
		"no budget":                {change: func(job *holdfast.Job) { job.Attempt = job.MaxAttempts + 1 }, do: ok, want: retry.KindNever, why: worker.ErrBudget},
		"expired":                  {change: func(job *holdfast.Job) { job.Deadline = time.Now().Add(-time.Second) }, do: ok, want: retry.KindNever, why: worker.ErrExpired},
		"another kind":             {change: func(job *holdfast.Job) { job.Kind = "payments.refund" }, do: ok, want: retry.KindNever, why: worker.ErrUnknownKind},
		"cornered":                 {change: func(job *holdfast.Job) { job.Cornered = true }, do: func(context.Context, charge) error { return retry.Later(errDeclined, 0) }, want: retry.KindNever, why: errDeclined, ran: true},
		"the payload does the job": {change: func(job *holdfast.Job) { job.Payload = []byte(`{"id":7}`) }, do: ok, want: retry.KindNever},
	} {
		job := workertest.NewJob(ch1)
		if c.change != nil {
			c.change(job)
		}
		r := workertest.Run(t.Context(), job, c.do)
		r.Want(t, c.want)
		if c.why != nil && !errors.Is(r.Err, c.why) || c.ran != r.Ran || (r.Err == nil) != (c.want == retry.KindDone) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestAnHoursTimeoutTakesNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		job := workertest.NewJob(ch1)
		job.Timeout = time.Hour
		r := workertest.Run(t.Context(), job, func(ctx context.Context, _ charge) error {
			<-ctx.Done()
			return ctx.Err()
		})
		r.Want(t, retry.KindRetry)
		if !errors.Is(r.Err, worker.ErrTimeout) {
			t.Error(r.Err)
		}
	})
}

func TestALostLockPutsTheJobBackWhateverItReturns(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{"nil": nil, "an error": errDeclined, "never": retry.Never(errDeclined)} {
		for _, before := range []bool{true, false} {
			var lock workertest.Lock
			if before {
				lock.Lose(errGone)
			}
			r := workertest.Run(t.Context(), workertest.NewJob(ch1), func(ctx context.Context, _ charge) error {
				if !before {
					lock.Lose(errGone)
				}
				if !errors.Is(context.Cause(ctx), errGone) {
					t.Error("the context lives:", context.Cause(ctx))
				}
				return answer
			}, lock.Middleware)
			r.Want(t, retry.KindLater)
			if !errors.Is(r.Err, workertest.ErrLost) || !errors.Is(r.Err, errGone) {
				t.Errorf("%s: %v", name, r.Err)
			}
			// Nothing was recorded, and the next attempt holds a lock of its own.
			again := workertest.Run(t.Context(), workertest.NewJob(ch1), ok, lock.Middleware)
			if again.Want(t, retry.KindDone); !again.Ran || again.Tenure.Token <= r.Tenure.Token {
				t.Errorf("%s: %+v after %+v", name, again, r)
			}
		}
	}
	// The control: without loss the answer stands.
	var lock workertest.Lock
	workertest.Run(t.Context(), workertest.NewJob(ch1), ok, lock.Middleware).Want(t, retry.KindDone)
}

func TestContentionIsPutBackAndDoesNotRun(t *testing.T) {
	t.Parallel()
	var lock workertest.Lock
	lock.Contend(1)
	job := workertest.NewJob(ch1)
	job.Attempt = job.MaxAttempts
	r := workertest.Run(t.Context(), job, ok, lock.Middleware)
	if r.Want(t, retry.KindLater); r.Ran || r.Verdict.Delay != time.Second || !errors.Is(r.Err, workertest.ErrContended) {
		t.Errorf("%+v", r)
	}
	r = workertest.Run(t.Context(), workertest.NewJob(ch1), func(ctx context.Context, _ charge) error {
		inner := workertest.Run(ctx, workertest.NewJob(ch1), ok, lock.Middleware)
		if inner.Want(t, retry.KindLater); inner.Ran {
			t.Error("two hold one lock")
		}
		return nil
	}, lock.Middleware)
	if r.Want(t, retry.KindDone); !r.Ran {
		t.Errorf("%+v", r)
	}
}

func TestADuplicateHasTheResultOfTheFirst(t *testing.T) {
	t.Parallel()
	var lock workertest.Lock
	receipt := func(ctx context.Context, _ charge) error { return holdfast.SetResult(ctx, "receipt 7") }
	for _, ran := range []bool{true, false} {
		r := workertest.Run(t.Context(), workertest.NewJob(ch1), receipt, lock.Middleware)
		if r.Want(t, retry.KindDone); r.Ran != ran || string(r.Result) != `"receipt 7"` {
			t.Errorf("%+v", r)
		}
	}
	other := workertest.Run(t.Context(), workertest.NewJob(charge{ID: "ch_1", Amount: 900}), receipt, lock.Middleware)
	if other.Want(t, retry.KindNever); other.Ran || !errors.Is(other.Err, holdfast.ErrMismatch) {
		t.Errorf("%+v", other)
	}
	foreign := workertest.NewJob(ch1)
	foreign.Foreign = true
	if r := workertest.Run(t.Context(), foreign, receipt, lock.Middleware); !r.Ran {
		t.Errorf("another producer's ID was taken for a duplicate: %+v", r)
	}
}

func TestWantTokenIsKeptByWhoeverAsks(t *testing.T) {
	t.Parallel()
	lock := workertest.Lock{Token: 8, Abandoned: true}
	asks := func(ctx context.Context, _ charge) error {
		ctx, cancel := context.WithCancel(ctx) // as a driver does
		defer cancel()
		if got := holdfast.Token(ctx); got != 8 {
			t.Errorf("token %d", got)
		}
		return nil
	}
	r := workertest.Run(t.Context(), workertest.NewJob(ch1), asks, lock.Middleware)
	if r.WantToken(t); !r.Tenure.Abandoned || r.Tenure.Keys[0] != "j/payments.charge/ch_1" {
		t.Errorf("%+v", r.Tenure)
	}
	var fresh workertest.Lock
	for want, r := range map[string]workertest.Report{
		"did not ask":      workertest.Run(t.Context(), workertest.NewJob(ch1), ok, fresh.Middleware),
		"without a tenure": workertest.Run(t.Context(), workertest.NewJob(ch1), ok),
		"did not run":      workertest.Run(t.Context(), workertest.NewJob(ch1), ok, fresh.Middleware),
	} {
		var e ear
		if r.WantToken(&e); len(e.said) != 1 || !strings.Contains(e.said[0], want) {
			t.Errorf("said %q, want %q", e.said, want)
		}
	}
	var e ear
	if r.Want(&e, retry.KindNever); len(e.said) != 1 || e.said[0] != "the verdict is done (<nil>), want never" {
		t.Errorf("said %q", e.said)
	}
}

func TestAJobThatCouldNotBeEnqueuedPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "JobID") {
			t.Errorf("got %v", v)
		}
	}()
	if a, b := workertest.NewJob(charge{}), workertest.NewJob(charge{}); a.ID == b.ID {
		t.Error("two jobs without ID have one")
	}
	workertest.NewJob(charge{ID: "a b"})
}
