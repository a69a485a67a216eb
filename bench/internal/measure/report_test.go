package measure

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

var figures = []Figures{
	{Lock: "mine", Nodes: 1, CyclesPerS: 30_000, Spread: 0.125, P50: 1500 * time.Microsecond, P99: 4 * time.Millisecond},
	{Lock: "redsync", Nodes: 1, CyclesPerS: 12_000, P50: 3 * time.Millisecond, P99: 9 * time.Millisecond},
	{Lock: "mine", Nodes: 3, CyclesPerS: 16_000, P50: 2 * time.Millisecond, P99: 5 * time.Millisecond},
	{Lock: "redsync", Nodes: 3, CyclesPerS: 4_000, P50: 6 * time.Millisecond, P99: 9 * time.Millisecond},
	{Lock: "mine", Nodes: 5, CyclesPerS: 9_000, Failed: 2, Err: errors.New("no quorum")},
}

func TestARatioIsToTheSameNumberOfNodes(t *testing.T) {
	t.Parallel()
	for i, want := range []float64{2.5, 1, 4, 1} {
		if got, ok := Ratio(figures[i], figures, "redsync"); !ok || got != want {
			t.Errorf("%s on %d nodes: got %v, want %v", figures[i].Lock, figures[i].Nodes, got, want)
		}
	}
	if got, ok := Ratio(figures[4], figures, "redsync"); ok {
		t.Errorf("got %v without redsync, want none", got)
	}
}

func TestTheJSONIsAnArrayOfSixFields(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := JSON(&out, figures[2:]); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "lock": "mine",
    "nodes": 3,
    "cycles_per_s": 16000,
    "p50_ms": 2,
    "p99_ms": 5,
    "ratio_to_redsync": 4
  },
  {
    "lock": "redsync",
    "nodes": 3,
    "cycles_per_s": 4000,
    "p50_ms": 6,
    "p99_ms": 9,
    "ratio_to_redsync": 1
  },
  {
    "lock": "mine",
    "nodes": 5,
    "cycles_per_s": 9000,
    "p50_ms": 0,
    "p99_ms": 0,
    "ratio_to_redsync": null
  }
]
`
	if got := out.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestTheTableHasARatioPerRivalAndTheFirstFailure(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := Table(&out, figures, "redsync", "absent"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"nodes lock cycles/s spread p50 ms p99 ms max ms failed x redsync x absent",
		"1 mine 30000 12% 1.50 4.00 0.0 0 2.50 -",
		"1 redsync 12000 0% 3.00 9.00 0.0 0 1.00 -",
		"3 mine 16000 0% 2.00 5.00 0.0 0 4.00 -",
		"3 redsync 4000 0% 6.00 9.00 0.0 0 1.00 -",
		"5 mine 9000 0% 0.00 0.00 0.0 2 - -",
		"mine on 5 nodes failed first with: no quorum",
	}
	if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
