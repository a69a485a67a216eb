package retry

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheTableInTheDocsIsWhatThePoliciesSay(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]Policy{"Failure": Failure(), "Wait": Wait()} {
		j := p.(jittered)
		if j.share != 0.5 {
			t.Errorf("%s: share %v, the docs say 0.5", name, j.share)
		}
		row := fmt.Sprintf("%-10s", name)
		for n := 1; n <= 10; n++ {
			row += fmt.Sprintf("%-6s", short(j.policy.Delay(n)))
		}
		if row = "//\t" + strings.TrimSpace(row) + "\n"; !strings.Contains(string(doc), row) {
			t.Errorf("doc.go has no line %q", row)
		}
	}
	if d := Failure().(jittered).policy.Delay(11); d != 10*time.Minute {
		t.Errorf("Failure 11: %v, the docs say 10m", d)
	}
}

// short drops the zero seconds of whole minutes.
func short(d time.Duration) string {
	if s, whole := strings.CutSuffix(d.String(), "m0s"); whole {
		return s + "m"
	}
	return d.String()
}

func TestExponentialDoublesExactlyUpToItsMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		initial := time.Duration(rapid.Int64Range(1, int64(MaxDelay)).Draw(t, "initial"))
		limit := time.Duration(rapid.Int64Range(int64(initial), int64(MaxDelay)).Draw(t, "max"))
		p := Exponential(initial, limit)
		want := initial
		for n := 1; n <= 70; n++ {
			if got := p.Delay(n); got != want {
				t.Fatalf("Exponential(%v, %v).Delay(%d) = %v, want %v", initial, limit, n, got, want)
			}
			want = min(2*want, limit)
		}
		far := rapid.IntRange(70, math.MaxInt).Draw(t, "far")
		if got := p.Delay(far); got != limit {
			t.Fatalf("Delay(%d) = %v, want the maximum %v", far, got, limit)
		}
	})
}

func TestAnAttemptBelowOneIsTheFirst(t *testing.T) {
	p := Exponential(time.Second, time.Minute)
	for _, n := range []int{math.MinInt, -1, 0, 1} {
		if d := p.Delay(n); d != time.Second {
			t.Errorf("Delay(%d) = %v, want 1s", n, d)
		}
	}
	if d := p.Delay(1_000_000); d != time.Minute {
		t.Errorf("Delay(1e6) = %v, want 1m", d)
	}
}

func TestConstantIsConstant(t *testing.T) {
	for _, n := range []int{-1, 1, 2, math.MaxInt} {
		if d := Constant(3 * time.Second).Delay(n); d != 3*time.Second {
			t.Errorf("Delay(%d) = %v, want 3s", n, d)
		}
	}
}

func TestJitterStaysWithinItsShare(t *testing.T) {
	const rounding = 4 * time.Nanosecond
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(MaxDelay)).Draw(t, "delay"))
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		got := Jitter(Constant(d), share).Delay(rapid.Int().Draw(t, "attempt"))
		off := time.Duration(share * float64(d))
		if got < 0 || got < d-off-rounding || got > d+off+rounding {
			t.Fatalf("Jitter(%v, %v) = %v", d, share, got)
		}
	})
}

func TestJitterIsUniform(t *testing.T) {
	p, quarters := Jitter(Constant(time.Hour), 0.5), [4]int{}
	const draws = 8000
	for n := range draws {
		quarters[min(3, (p.Delay(n)-30*time.Minute)/(15*time.Minute))]++
	}
	for i, n := range quarters {
		if n < draws/4-400 || n > draws/4+400 { // ten standard deviations
			t.Errorf("quarter %d: %d of %d draws: %v", i, n, draws, quarters)
		}
	}
}

type longest struct{}

func (longest) Delay(int) time.Duration { return math.MaxInt64 }

func TestJitterDoesNotOverflowOnAPolicyOfSomebodyElse(t *testing.T) {
	for n := range 100 {
		if d := Jitter(longest{}, 1).Delay(n); d < 0 {
			t.Fatalf("delay %v", d)
		}
	}
}

func TestBadPoliciesPanicInOneSentence(t *testing.T) {
	bad := map[string]func(){
		"Exponential(0s, 1s)":  func() { Exponential(0, time.Second) },
		"Exponential(2s, 1s)":  func() { Exponential(2*time.Second, time.Second) },
		"Exponential(1s, 2161": func() { Exponential(time.Second, MaxDelay+time.Hour) },
		"Constant(-1s)":        func() { Constant(-time.Second) },
		"Jitter: want a":       func() { Jitter(nil, 0.5) },
		"share 1.5":            func() { Jitter(Constant(0), 1.5) },
		"share NaN":            func() { Jitter(Constant(0), math.NaN()) },
	}
	for want, construct := range bad {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "retry: ") || !strings.Contains(got, want) {
					t.Errorf("panic %q does not say %q", got, want)
				}
			}()
			construct()
		})
	}
}

func BenchmarkExponentialFarOut(b *testing.B) {
	p := Exponential(time.Second, 10*time.Minute)
	for b.Loop() {
		p.Delay(1_000_000)
	}
}
