// Package ledger holds the example's database: the schema, on SQLite or
// PostgreSQL, and what a run needs before and after. The SQL of a payment itself
// is in the store, for it is what a user would write.
package ledger

import (
	"context"
	"database/sql"
	"fmt"
)

// Account is one account in one currency.
type Account struct{ ID, Currency string }

// Line is what the ledger says about an account.
type Line struct {
	Opening, Balance int64 // in cents
	Payments         int   // rows
	Sum              int64 // of those rows, in cents
}

// Reset throws away what an earlier run left in db and opens the accounts with
// the given balances.
func Reset(ctx context.Context, db *DB, openings map[Account]int64) error {
	if err := db.clear(ctx); err != nil {
		return fmt.Errorf("ledger: clear: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("ledger: begin: %w", err)
	}
	defer tx.Rollback()
	for _, statement := range schema {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("ledger: create tables: %w", err)
		}
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO accounts (id, currency, opening_cents, balance_cents) VALUES ($1, $2, $3, $3)`)
	if err != nil {
		return fmt.Errorf("ledger: open accounts: %w", err)
	}
	defer insert.Close()
	for account, cents := range openings {
		if _, err := insert.ExecContext(ctx, account.ID, account.Currency, cents); err != nil {
			return fmt.Errorf("ledger: open account %q: %w", account.ID, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("ledger: commit: %w", err)
	}
	return nil
}

// Lines reads all accounts.
func Lines(ctx context.Context, db *DB) (map[Account]Line, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT a.id, a.currency, a.opening_cents, a.balance_cents, COUNT(p.id), CAST(COALESCE(SUM(p.amount_cents), 0) AS BIGINT)
		FROM accounts a LEFT JOIN payments p ON p.account = a.id AND p.currency = a.currency
		GROUP BY a.id, a.currency, a.opening_cents, a.balance_cents`)
	if err != nil {
		return nil, fmt.Errorf("ledger: read accounts: %w", err)
	}
	defer rows.Close()
	lines := make(map[Account]Line)
	for rows.Next() {
		var a Account
		var l Line
		if err := rows.Scan(&a.ID, &a.Currency, &l.Opening, &l.Balance, &l.Payments, &l.Sum); err != nil {
			return nil, fmt.Errorf("ledger: read account: %w", err)
		}
		lines[a] = l
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ledger: read accounts: %w", err)
	}
	return lines, nil
}

// schema is the same text for both databases.
var schema = []string{
	`CREATE TABLE accounts (
		id            TEXT   NOT NULL,
		currency      TEXT   NOT NULL,
		opening_cents BIGINT NOT NULL,
		balance_cents BIGINT NOT NULL,
		last_token    BIGINT NOT NULL DEFAULT 0, -- of the tenure that wrote last
		PRIMARY KEY (id, currency)
	)`,
	`CREATE TABLE payments (
		id           TEXT   PRIMARY KEY, -- one row per payment, whatever is delivered twice
		account      TEXT   NOT NULL,
		currency     TEXT   NOT NULL,
		amount_cents BIGINT NOT NULL,
		charge       TEXT   NOT NULL, -- the provider's number
		token        BIGINT NOT NULL
	)`,
}

// DB is an open ledger.
type DB struct {
	*sql.DB
	clear func(context.Context) error
}
