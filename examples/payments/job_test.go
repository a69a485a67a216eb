package main

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/holdfasttest"
	"github.com/holdfastjobs/holdfast/queue"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/retry"
	"github.com/holdfastjobs/holdfast/worker"
	"github.com/holdfastjobs/holdfast/worker/workertest"
)

func TestAChargeWritesItsTokenAndAnOlderOneIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{})
	newer, older := workertest.Lock{Token: 8}, workertest.Lock{Token: 6}
	report := workertest.Run(t.Context(), workertest.NewJob(pay("p1", 300)), b.Charge, newer.Middleware)
	report.Want(t, retry.KindDone)
	report.WantToken(t)
	report = workertest.Run(t.Context(), workertest.NewJob(pay("p2", 100)), b.Charge, older.Middleware)
	report.Want(t, retry.KindRetry)
	if !errors.Is(report.Err, errStale) {
		t.Error(report.Err)
	}
	if got := b.balance(t); got.Balance != 700 {
		t.Errorf("got %+v", got)
	}
}

// thief takes the lock at the worst moment: the money has moved, and nobody knows.
type thief struct{ *workertest.Lock }

func (th thief) Write(line []byte) (int, error) {
	th.Lose(redlock.ErrLost)
	return len(line), nil
}

func TestAChargeThatLosesItsLockComesAgainAndMovesTheMoneyOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{})
	var lock workertest.Lock
	bank, err := provider.Start(provider.Config{Book: thief{&lock}})
	if err != nil {
		t.Fatal(err)
	}
	b.Provider = provider.NewClient(bank.URL)
	t.Cleanup(func() { b.Provider.Close(); bank.Close() })

	lost := workertest.Run(t.Context(), workertest.NewJob(pay("p1", 300)), b.Charge, lock.Middleware)
	lost.Want(t, retry.KindLater)
	if !errors.Is(lost.Err, redlock.ErrLost) {
		t.Error(lost.Err)
	}
	for _, ran := range []bool{true, false} { // its next attempt, and a duplicate of that
		report := workertest.Run(t.Context(), workertest.NewJob(pay("p1", 300)), b.Charge, lock.Middleware)
		if report.Want(t, retry.KindDone); report.Ran != ran {
			t.Errorf("%+v", report)
		}
	}
	if got := b.balance(t); got.Balance != 700 || len(bank.Book.Charges()) != 1 {
		t.Errorf("got %+v after %d charges", got, len(bank.Book.Charges()))
	}
}

// [TestTwoPaymentsOfOneAccountAtOnceLoseMoneyWithoutALock] is the control.
func TestTwoPaymentsOfOneAccountAtOnceLoseNothingUnderTheLock(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{MinLatency: 200 * time.Millisecond, MaxLatency: 200 * time.Millisecond})
	fleet := holdfasttest.Start(t)
	fleet.Work(worker.Config{Concurrency: 2}, func(w *worker.Worker) {
		worker.Handle(w, b.Charge, locked(fleet.Locker))
	})
	fleet.Enqueue(pay("p1", 100))
	fleet.Enqueue(pay("p2", 100))
	fleet.Result("payments.charge", "p1")
	fleet.Result("payments.charge", "p2")
	if got := b.balance(t); got != (ledger.Line{Opening: 1000, Balance: 800, Payments: 2, Sum: 200}) {
		t.Errorf("got %+v", got)
	}
	// An operator who runs a payment again cannot move the money twice.
	first := fleet.Result("payments.charge", "p1")
	_, err := fleet.Jobs.RunAgain(t.Context(), "payments.charge", "p1")
	for errors.Is(err, queue.ErrNotDone) { // recorded, and not yet acknowledged
		<-time.After(10 * time.Millisecond)
		_, err = fleet.Jobs.RunAgain(t.Context(), "payments.charge", "p1")
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := fleet.Result("payments.charge", "p1"); again.Token <= first.Token {
		t.Errorf("it did not run again: %+v after %+v", again, first)
	}
	if got := b.balance(t); got.Balance != 800 || len(b.bank.Book.Charges()) != 2 {
		t.Errorf("got %+v after %d charges", got, len(b.bank.Book.Charges()))
	}
}
