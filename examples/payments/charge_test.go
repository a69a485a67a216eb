package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/internal/servers"
	"github.com/holdfastjobs/holdfast/retry"
)

var account = ledger.Account{ID: "a1", Currency: "EUR"}

type bench struct {
	Store
	bank *provider.Server
	db   *ledger.DB
}

func setup(t *testing.T, dsn string, faults provider.Faults) *bench {
	t.Helper()
	db, err := ledger.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := ledger.Reset(t.Context(), db, map[ledger.Account]int64{account: 1000}); err != nil {
		t.Fatal(err)
	}
	bank, err := provider.Start(provider.Config{Seed: 1, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	client := provider.NewClient(bank.URL)
	t.Cleanup(func() { client.Close(); bank.Close() })
	return &bench{Store: Store{DB: db.DB, Provider: client}, bank: bank, db: db}
}

func sqlite(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.db") }

func under(ctx context.Context, token int64) context.Context {
	return holdfast.WithTenure(ctx, holdfast.Tenure{Keys: []string{"r/account/a1"}, Token: token})
}

func (b *bench) balance(t *testing.T) ledger.Line {
	t.Helper()
	lines, err := ledger.Lines(t.Context(), b.db)
	if err != nil {
		t.Fatal(err)
	}
	return lines[account]
}

func pay(id string, cents int64) Charge {
	return Charge{ID: id, Account: "a1", Amount: cents, Currency: "EUR"}
}

func TestAPaymentThatIsDeliveredAgainIsChargedAndBookedOnce(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{"SQLite": sqlite(t), "PostgreSQL": servers.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, dsn, provider.Faults{Unavailable: 0.3, Dropped: 0.5})
			done := 0
			for token := int64(1); done < 3; token++ {
				if token > 100 {
					t.Fatal("never done")
				}
				if err := b.Charge(under(t.Context(), token), pay("p1", 900)); err == nil {
					done++
				}
			}
			if n := len(b.bank.Book.Charges()); n != 1 {
				t.Errorf("%d charges", n)
			}
			// 900 of 1000: a second check against the limit would refuse it.
			if got := b.balance(t); got != (ledger.Line{Opening: 1000, Balance: 100, Payments: 1, Sum: 900}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAHolderThatWasOvertakenCannotOverwriteTheBalance(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{})
	if err := b.Charge(under(t.Context(), 8), pay("p1", 300)); err != nil {
		t.Fatal(err)
	}
	if err := b.Charge(under(t.Context(), 6), pay("p2", 100)); !errors.Is(err, errStale) {
		t.Fatalf("got %v", err)
	}
	if got := b.balance(t); got != (ledger.Line{Opening: 1000, Balance: 700, Payments: 1, Sum: 300}) {
		t.Errorf("the older token left its mark: %+v", got)
	}
	if err := b.Charge(under(t.Context(), 10), pay("p2", 100)); err != nil { // its next attempt
		t.Fatal(err)
	}
	if got := b.balance(t); got.Balance != 600 || len(b.bank.Book.Charges()) != 2 {
		t.Errorf("got %+v after %d charges", got, len(b.bank.Book.Charges()))
	}
}

func TestAPaymentThatCannotEverSucceedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{})
	for _, c := range []Charge{pay("p1", 1001), {ID: "p1", Account: "a2", Amount: 1, Currency: "EUR"}, {ID: "p1", Account: "a1", Amount: 1, Currency: "USD"}} {
		if err := b.Charge(t.Context(), c); retry.Of(err).Kind != retry.KindNever {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	if _, err := b.Provider.Charge(t.Context(), "p2", provider.Request{Account: "other", Amount: 1, Currency: "EUR"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Charge(t.Context(), pay("p2", 1)); retry.Of(err).Kind != retry.KindNever {
		t.Errorf("a key with another charge: got %v", err)
	}
}

// The control of the locks: without them this method loses money.
func TestTwoPaymentsOfOneAccountAtOnceLoseMoneyWithoutALock(t *testing.T) {
	t.Parallel()
	b := setup(t, sqlite(t), provider.Faults{MinLatency: 200 * time.Millisecond, MaxLatency: 200 * time.Millisecond})
	var both sync.WaitGroup
	for _, id := range []string{"p1", "p2"} {
		both.Go(func() {
			if err := b.Charge(t.Context(), pay(id, 100)); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if got := b.balance(t); got != (ledger.Line{Opening: 1000, Balance: 900, Payments: 2, Sum: 200}) {
		t.Errorf("nothing was lost: %+v", got)
	}
}
