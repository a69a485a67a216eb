package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
	"github.com/holdfastjobs/holdfast/retry"
)

// Charge is one payment, as a job: its ID is the idempotency key, everywhere.
type Charge struct {
	ID       string `json:"id"`
	Account  string `json:"account"`
	Amount   int64  `json:"amount_cents"`
	Currency string `json:"currency"`
}

// Kind names the handler.
func (Charge) Kind() string { return "payments.charge" }

// JobID makes two jobs of one payment one job.
func (c Charge) JobID() string { return c.ID }

// Store is the ledger, and the provider that moves the money.
type Store struct {
	DB       *sql.DB
	Provider *provider.Client
}

var (
	errLimit = errors.New("balance too low")
	errStale = errors.New("a later tenure wrote this account")
)

// Charge charges one payment and books it. It may be called again at any point,
// by another process too, and ends what an earlier call began.
//
// It reads the balance before its transaction, as code does that checks limits
// first. So it needs what the lock gives: no other job on this account meanwhile.
func (s Store) Charge(ctx context.Context, c Charge) error {
	var balance int64
	var booked bool
	err := s.DB.QueryRowContext(ctx, `
		SELECT balance_cents, EXISTS (SELECT 1 FROM payments WHERE id = $1)
		FROM accounts WHERE id = $2 AND currency = $3`, c.ID, c.Account, c.Currency).Scan(&balance, &booked)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return retry.Never(fmt.Errorf("charge: no account %q in %s", c.Account, c.Currency))
	case err != nil:
		return fmt.Errorf("charge: read balance: %w", err)
	case booked:
		return nil // an earlier call got to the end
	case balance < c.Amount:
		return retry.Never(fmt.Errorf("charge: account %q: %w", c.Account, errLimit))
	}

	// A dropped reply may hide a charge that was applied. The next attempt asks
	// under the same key, and gets that charge's receipt instead of a second one.
	receipt, err := s.Provider.Charge(ctx, c.ID, provider.Request{Account: c.Account, Amount: c.Amount, Currency: c.Currency})
	if _, refused := errors.AsType[*provider.RefusedError](err); refused {
		return retry.Never(fmt.Errorf("charge: %w", err))
	}
	if err != nil {
		return fmt.Errorf("charge: %w", err) // counted, and tried again
	}
	return s.book(ctx, c, receipt, balance-c.Amount)
}

// book writes payment and balance in one transaction. The row is unique by the
// payment's ID. The token is refused once a later holder of the account's lock
// has written: a process that was paused for too long cannot overwrite it.
func (s Store) book(ctx context.Context, c Charge, receipt provider.Receipt, balance int64) error {
	tenure, _ := holdfast.TenureFrom(ctx)
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("book: begin: %w", err)
	}
	defer tx.Rollback()
	rows, err := affected(tx.ExecContext(ctx, `
		INSERT INTO payments (id, account, currency, amount_cents, charge, token)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
		c.ID, c.Account, c.Currency, c.Amount, receipt.Charge, tenure.Token))
	if err != nil {
		return fmt.Errorf("book: insert payment: %w", err)
	}
	if rows == 0 {
		return nil // booked meanwhile
	}
	rows, err = affected(tx.ExecContext(ctx, `
		UPDATE accounts SET balance_cents = $1, last_token = $2
		WHERE id = $3 AND currency = $4 AND last_token <= $2`,
		balance, tenure.Token, c.Account, c.Currency))
	if err != nil {
		return fmt.Errorf("book: update balance: %w", err)
	}
	if rows == 0 {
		return fmt.Errorf("book: account %q: %w", c.Account, errStale)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("book: commit: %w", err)
	}
	return nil
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
