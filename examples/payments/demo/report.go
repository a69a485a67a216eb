package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxFindings is how many faults are written out.
const maxFindings = 10

// Outcome is the object that -json prints. All of it is counted: by the
// producers, by the workers' own metrics, and in the provider's book and the
// ledger after the run.
type Outcome struct {
	Submitted          int64   `json:"submitted"` // by all producers, repeats included
	Unique             int     `json:"unique"`
	ChargedOnce        int     `json:"charged_once"`
	ChargedTwice       int     `json:"charged_twice"` // or more often
	Lost               int     `json:"lost"`
	UnbalancedAccounts int     `json:"unbalanced_accounts"`
	DuplicatesRefused  int64   `json:"duplicates_refused"` // at enqueue
	DuplicatesSkipped  int64   `json:"duplicates_skipped"` // at execution
	Contended          int64   `json:"contended"`
	ProviderCalls      int64   `json:"provider_calls"`
	Restarts           int     `json:"restarts"`
	ElapsedS           float64 `json:"elapsed_s"`

	findings []string
}

func (o *Outcome) good() bool {
	return o.ChargedOnce == o.Unique && len(o.findings) == 0
}

func (o *Outcome) writeJSON(w io.Writer) error { return json.NewEncoder(w).Encode(o) }

func (o *Outcome) writeTable(w io.Writer) error {
	var b strings.Builder
	row := func(name string, value any, remark string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-21s%8v  %s", name, value, remark), " ") + "\n")
	}
	row("submitted", o.Submitted, "")
	row("unique", o.Unique, "")
	row("charged once", o.ChargedOnce, "in the provider's book")
	row("charged twice", o.ChargedTwice, "")
	row("lost", o.Lost, "")
	row("unbalanced accounts", o.UnbalancedAccounts, "in the ledger")
	row("duplicates refused", o.DuplicatesRefused, "at enqueue")
	row("duplicates skipped", o.DuplicatesSkipped, "at execution")
	row("contended", o.Contended, "acquires that met another holder")
	row("provider calls", o.ProviderCalls, "")
	row("worker restarts", o.Restarts, "")
	row("elapsed", fmt.Sprintf("%.1f", o.ElapsedS), "seconds")
	if o.good() {
		b.WriteString("\nEvery payment was charged once, and every balance is right.\n")
	} else {
		b.WriteString("\nNOT every payment was charged once with every balance right.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFindings writes the first faults, and how many more there are.
func (o *Outcome) writeFindings(w io.Writer) {
	for i, f := range o.findings {
		if i == maxFindings {
			fmt.Fprintf(w, "payments: and %d more\n", len(o.findings)-i)
			return
		}
		fmt.Fprintf(w, "payments: %s\n", f)
	}
}
