package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// Base is the lock that all others are compared to.
const Base = "redsync"

// Ratio is f's cycles to those of the named lock on the same nodes; false when
// that one did not play there, or got nothing done.
func Ratio(f Figures, all []Figures, lock string) (float64, bool) {
	for _, other := range all {
		if other.Lock == lock && other.Nodes == f.Nodes && other.CyclesPerS > 0 {
			return f.CyclesPerS / other.CyclesPerS, true
		}
	}
	return 0, false
}

// entry is one row for programs.
type entry struct {
	Lock       string   `json:"lock"`
	Nodes      int      `json:"nodes"`
	CyclesPerS float64  `json:"cycles_per_s"`
	P50        float64  `json:"p50_ms"`
	P99        float64  `json:"p99_ms"`
	Ratio      *float64 `json:"ratio_to_redsync"` // null without redsync
}

// JSON writes the figures as one array.
func JSON(w io.Writer, all []Figures) error {
	entries := make([]entry, len(all))
	for i, f := range all {
		entries[i] = entry{
			Lock: f.Lock, Nodes: f.Nodes, CyclesPerS: thousandths(f.CyclesPerS), P50: ms(f.P50), P99: ms(f.P99),
		}
		if ratio, ok := Ratio(f, all, Base); ok {
			ratio = thousandths(ratio)
			entries[i].Ratio = &ratio
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(entries)
}

// Table writes the figures for people, with one column of ratios for each of
// the locks in against.
func Table(w io.Writer, all []Figures, against ...string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "nodes\tlock\tcycles/s\tspread\tp50 ms\tp99 ms\tmax ms\tfailed\t")
	for _, lock := range against {
		fmt.Fprintf(t, "x %s\t", lock)
	}
	for _, f := range all {
		fmt.Fprintf(t, "\n%d\t%s\t%.0f\t%.0f%%\t%.2f\t%.2f\t%.1f\t%d\t",
			f.Nodes, f.Lock, f.CyclesPerS, 100*f.Spread, ms(f.P50), ms(f.P99), ms(f.Max), f.Failed)
		for _, lock := range against {
			if ratio, ok := Ratio(f, all, lock); ok {
				fmt.Fprintf(t, "%.2f\t", ratio)
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range all {
		if f.Err != nil {
			fmt.Fprintf(w, "%s on %d nodes failed first with: %v\n", f.Lock, f.Nodes, f.Err)
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return thousandths(d.Seconds() * 1000) }

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }
