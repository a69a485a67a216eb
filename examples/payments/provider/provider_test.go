package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func setup(t *testing.T, c Config) (*Server, *Client) {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(s.URL)
	t.Cleanup(func() {
		client.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, client
}

var request = Request{Account: "a1", Amount: 500, Currency: "EUR"}

func TestAKeyThatCompletedIsAnsweredWithItsCharge(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s, client := setup(t, Config{Book: &out})
	first, err := client.Charge(t.Context(), "k1", request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Charge(t.Context(), "k1", request)
	if err != nil || again != first {
		t.Fatalf("got %v, %v; want %v", again, err, first)
	}
	if n := len(s.Book.Charges()); n != 1 || s.Calls() != 2 || s.Book.Keys() != 1 {
		t.Fatalf("%d charges after %d calls", n, s.Calls())
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || s.Book.Err() != nil {
		t.Fatal(err, s.Book.Err())
	}
	for field, want := range map[string]any{"charge": "ch_000001", "id": "k1", "account": "a1", "amount_cents": 500.0, "currency": "EUR"} {
		if line[field] != want {
			t.Errorf("%s: got %v, want %v", field, line[field], want)
		}
	}
}

func TestTwoCallsInFlightBothCharge(t *testing.T) {
	t.Parallel()
	s, client := setup(t, Config{Faults: Faults{MinLatency: 200 * time.Millisecond, MaxLatency: 200 * time.Millisecond}})
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			if _, err := client.Charge(t.Context(), "k1", request); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if n := len(s.Book.Charges()); n != 2 {
		t.Fatalf("%d charges, want 2", n)
	}
}

func TestUnavailableAppliesNothing(t *testing.T) {
	t.Parallel()
	s, client := setup(t, Config{Faults: Faults{Unavailable: 1}})
	if _, err := client.Charge(t.Context(), "k1", request); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	if n := len(s.Book.Charges()); n != 0 {
		t.Fatalf("%d charges, want none", n)
	}
}

func TestADroppedReplyIsAnErrorOfAChargeThatWasApplied(t *testing.T) {
	t.Parallel()
	s, client := setup(t, Config{Faults: Faults{Dropped: 1}})
	for range 2 { // the second over a connection that net/http would repeat on
		if receipt, err := client.Charge(t.Context(), "k1", request); err == nil {
			t.Fatalf("got %v, want an error", receipt)
		}
	}
	if n := len(s.Book.Charges()); n != 1 || s.Calls() != 2 {
		t.Fatalf("%d charges after %d calls, want 1 after 2", n, s.Calls())
	}
}

func TestAKeyWithAnotherChargeIsRefused(t *testing.T) {
	t.Parallel()
	_, client := setup(t, Config{})
	if _, err := client.Charge(t.Context(), "k1", request); err != nil {
		t.Fatal(err)
	}
	other := request
	other.Amount++
	_, err := client.Charge(t.Context(), "k1", other)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Status != 422 {
		t.Fatalf("got %v", err)
	}
	_, err = client.Charge(t.Context(), "", request)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Status != 400 {
		t.Fatalf("got %v", err)
	}
}

func TestTheUsualFaultsComeInTheirSharesAndRepeatUnderOneSeed(t *testing.T) {
	t.Parallel()
	const n = 50_000
	var unavailable, dropped int
	for i := range n {
		key := fmt.Sprint("k", i)
		f := Usual.draw(7, key, 1)
		if f != Usual.draw(7, key, 1) {
			t.Fatal("one seed, two fates")
		}
		if f.latency < 5*time.Millisecond || f.latency > 30*time.Millisecond {
			t.Fatalf("latency %v", f.latency)
		}
		if f.unavailable {
			unavailable++
		}
		if f.dropped {
			dropped++
		}
	}
	if unavailable < n*15/1000 || unavailable > n*25/1000 || dropped < n*7/1000 || dropped > n*13/1000 {
		t.Fatalf("%d unavailable, %d dropped of %d", unavailable, dropped, n)
	}
	if Usual.draw(7, "k1", 1) == Usual.draw(7, "k1", 2) || Usual.draw(7, "k1", 1) == Usual.draw(8, "k1", 1) {
		t.Fatal("neither call number nor seed matter")
	}
}
