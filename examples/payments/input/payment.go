// Package input reads payments from JSON Lines or CSV, and says of every bad
// line where it is, which field is wrong and why.
package input

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfastjobs/holdfast"
)

// Payment is one line of input.
type Payment struct {
	ID       string // the idempotency key, as [holdfast.CheckJobID] accepts it
	Account  string // likewise, for it becomes part of a lock key
	Amount   int64  // in cents, 1 to MaxAmount
	Currency string // three capital letters
}

// MaxAmount is the largest payment, in cents: nine million of them still sum up
// in an int64.
const MaxAmount = 1_000_000_000_000

// The names of the fields, in a JSON object and in a CSV header, in the order in
// which a line's first bad one is reported.
const (
	fieldID       = "id"
	fieldAccount  = "account"
	fieldAmount   = "amount_cents"
	fieldCurrency = "currency"
)

var fields = []string{fieldID, fieldAccount, fieldAmount, fieldCurrency}

// Fields tells a reader of the help what a payment has.
const Fields = `each has id and account (1 to 200 printable characters without space or
slash), amount_cents (a whole number from 1 to 1000000000000) and currency
(three capital letters); an id given again means the same payment`

const keyRange = "1 to 200 printable characters without space or slash"

// parse makes a payment of the four texts, or says which of them is wrong.
func parse(id, account, amount, currency string) (Payment, *flaw) {
	if holdfast.CheckJobID(id) != nil {
		return Payment{}, &flaw{fieldID, fmt.Sprintf("%s is not %s", quote(id), keyRange)}
	}
	if holdfast.CheckJobID(account) != nil {
		return Payment{}, &flaw{fieldAccount, fmt.Sprintf("%s is not %s", quote(account), keyRange)}
	}
	cents, err := strconv.ParseInt(amount, 10, 64)
	if err != nil || cents < 1 || cents > MaxAmount {
		return Payment{}, &flaw{fieldAmount, fmt.Sprintf("%s is not a whole number of cents from 1 to %d", quote(amount), int64(MaxAmount))}
	}
	outside := func(r rune) bool { return r < 'A' || r > 'Z' }
	if len(currency) != 3 || strings.ContainsFunc(currency, outside) {
		return Payment{}, &flaw{fieldCurrency, fmt.Sprintf("%s is not three capital letters", quote(currency))}
	}
	return Payment{ID: id, Account: account, Amount: cents, Currency: currency}, nil
}

// quote keeps a report to one line, however long or strange the value.
func quote(s string) string { return strconv.Quote(shorten(s)) }

func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:37], "") + "..."
	}
	return s
}

// differs names the first field in which two payments of one ID differ.
func (p Payment) differs(q Payment) string {
	switch {
	case p.Account != q.Account:
		return fieldAccount
	case p.Amount != q.Amount:
		return fieldAmount
	default:
		return fieldCurrency
	}
}
