package demo

import (
	"fmt"
	"slices"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
)

// reserve is left on every account once all its payments are made, in cents.
const reserve = 100_00

// openings gives every account what its payments need, and the reserve.
func openings(unique []input.Payment) map[ledger.Account]int64 {
	balances := make(map[ledger.Account]int64)
	for _, p := range unique {
		balances[accountOf(p)] += p.Amount
	}
	for account := range balances {
		balances[account] += reserve
	}
	return balances
}

func accountOf(p input.Payment) ledger.Account {
	return ledger.Account{ID: p.Account, Currency: p.Currency}
}

// audit is what the provider's book and the ledger say about the payments.
type audit struct {
	once, twice, lost int
	unbalanced        int      // accounts, whatever the number of their currencies
	findings          []string // each fault in words
}

func (a *audit) findf(format string, args ...any) {
	a.findings = append(a.findings, fmt.Sprintf(format, args...))
}

// examine compares what should have happened with both records of what did.
func examine(unique []input.Payment, book []provider.Charge, lines map[ledger.Account]ledger.Line) *audit {
	a := &audit{}
	charges := make(map[string][]provider.Charge)
	for _, c := range book {
		charges[c.ID] = append(charges[c.ID], c)
	}
	expected := make(map[ledger.Account]ledger.Line)
	for _, p := range unique {
		a.charge(p, charges[p.ID])
		delete(charges, p.ID)
		l := expected[accountOf(p)]
		l.Payments++
		l.Sum += p.Amount
		expected[accountOf(p)] = l
	}
	for id := range charges {
		a.findf("charged, but never submitted: %s", id)
	}
	a.balances(expected, lines)
	return a
}

func (a *audit) charge(p input.Payment, charges []provider.Charge) {
	want := provider.Request{Account: p.Account, Amount: p.Amount, Currency: p.Currency}
	wrong := slices.ContainsFunc(charges, func(c provider.Charge) bool { return c.Request != want })
	switch {
	case wrong:
		a.lost++ // money moved, and not this payment's
		a.findf("charged with another amount, account or currency: %s", p.ID)
	case len(charges) == 0:
		a.lost++
		a.findf("never charged: %s", p.ID)
	case len(charges) > 1:
		a.twice++
		a.findf("charged %d times: %s, as %s and %s", len(charges), p.ID, charges[0].Charge, charges[1].Charge)
	default:
		a.once++
	}
}

func (a *audit) balances(expected, lines map[ledger.Account]ledger.Line) {
	unbalanced := make(map[string]bool)
	for account, want := range expected {
		got := lines[account]
		if due := got.Opening - want.Sum; got.Balance != due || got.Payments != want.Payments || got.Sum != want.Sum {
			unbalanced[account.ID] = true
			a.findf("unbalanced: account %s holds %d cents %s after %d payments, where %d after %d are right",
				account.ID, got.Balance, account.Currency, got.Payments, due, want.Payments)
		}
	}
	a.unbalanced = len(unbalanced)
	slices.Sort(a.findings)
}
