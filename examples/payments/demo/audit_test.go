package demo

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/examples/payments/ledger"
	"github.com/holdfastjobs/holdfast/examples/payments/provider"
)

var two = []input.Payment{
	{ID: "p1", Account: "a1", Amount: 300, Currency: "EUR"},
	{ID: "p2", Account: "a1", Amount: 200, Currency: "EUR"},
}

func charged(id string, cents int64) provider.Charge {
	return provider.Charge{Charge: "ch", ID: id, Request: provider.Request{Account: "a1", Amount: cents, Currency: "EUR"}}
}

func TestTheAuditFindsEveryKindOfFault(t *testing.T) {
	t.Parallel()
	account := ledger.Account{ID: "a1", Currency: "EUR"}
	opening := openings(two)[account]
	right := ledger.Line{Opening: opening, Balance: reserve, Payments: 2, Sum: 500}
	book := []provider.Charge{charged("p1", 300), charged("p2", 200)}
	for name, c := range map[string]struct {
		book                         []provider.Charge
		line                         ledger.Line
		once, twice, lost, unbalance int
		finding                      string
	}{
		"nothing wrong":     {book, right, 2, 0, 0, 0, ""},
		"charged twice":     {append(slices.Clone(book), charged("p1", 300)), right, 1, 1, 0, 0, "charged 2 times: p1"},
		"never charged":     {book[:1], right, 1, 0, 1, 0, "never charged: p2"},
		"another amount":    {[]provider.Charge{book[0], charged("p2", 201)}, right, 1, 0, 1, 0, "another amount, account or currency: p2"},
		"never submitted":   {append(slices.Clone(book), charged("p3", 1)), right, 2, 0, 0, 0, "never submitted: p3"},
		"lost update":       {book, ledger.Line{Opening: opening, Balance: reserve + 200, Payments: 2, Sum: 500}, 2, 0, 0, 1, "account a1 holds 10200 cents EUR"},
		"payment not there": {book, ledger.Line{Opening: opening, Balance: reserve, Payments: 1, Sum: 300}, 2, 0, 0, 1, "after 1 payments"},
		"no account at all": {book, ledger.Line{}, 2, 0, 0, 1, "account a1"},
	} {
		a := examine(two, c.book, map[ledger.Account]ledger.Line{account: c.line})
		if a.once != c.once || a.twice != c.twice || a.lost != c.lost || a.unbalanced != c.unbalance {
			t.Errorf("%s: got %+v", name, a)
		}
		if found := strings.Join(a.findings, "\n"); (c.finding == "") != (found == "") || !strings.Contains(found, c.finding) {
			t.Errorf("%s: found %q, want %q", name, found, c.finding)
		}
	}
}

func TestAnOutcomeWithAFindingIsNotGood(t *testing.T) {
	t.Parallel()
	o := Outcome{Unique: 2, ChargedOnce: 2}
	var table strings.Builder
	if err := o.writeTable(&table); err != nil || !o.good() || !strings.Contains(table.String(), "Every payment was charged once") {
		t.Errorf("good: %v\n%s", err, &table)
	}
	o.findings = slices.Repeat([]string{"archived: 1 jobs"}, 12)
	table.Reset()
	if err := o.writeTable(&table); err != nil || o.good() || !strings.Contains(table.String(), "NOT every payment") {
		t.Errorf("not good: %v\n%s", err, &table)
	}
	table.Reset()
	o.writeFindings(&table)
	if !strings.HasSuffix(table.String(), "payments: and 2 more\n") || strings.Count(table.String(), "\n") != 11 {
		t.Errorf("got\n%s", &table)
	}
}
