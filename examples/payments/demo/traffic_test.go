package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfastjobs/holdfast/examples/payments/input"
	"github.com/holdfastjobs/holdfast/queue"
)

// memory is a queue that knows what it has.
type memory struct {
	mu   sync.Mutex
	seen []string // queue/id
	fail string   // the id at which Redis goes down
	blip string   // the id whose first submission is queued, and its reply lost
}

var errDown = errors.New("down")

func (m *memory) Ready(context.Context, func(string)) error { return nil }

func (m *memory) Submit(_ context.Context, p input.Payment, on string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.ID == m.fail {
		return errDown
	}
	key := on + "/" + p.ID
	if slices.Contains(m.seen, key) {
		return &queue.DuplicateError{}
	}
	m.seen = append(m.seen, key)
	if p.ID == m.blip {
		m.blip = ""
		return errDown
	}
	return nil
}

func (m *memory) Close() error { return nil }

func incoming(n int) []input.Payment {
	payments := make([]input.Payment, n)
	for i := range payments {
		payments[i] = input.Payment{ID: fmt.Sprint("p", i), Account: "a", Amount: 1, Currency: "EUR"}
	}
	return payments
}

var queues = Settings{Queue: "first", SecondQueue: "second"}

func TestFifteenPercentComeAgainAndFivePercentElsewhere(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]struct{ again, elsewhere int64 }{1: {1, 1}, 10: {2, 1}, 100: {15, 5}, 640: {96, 32}} {
		payments := incoming(n)
		repeated := append(slices.Clone(payments), payments[0]) // a line that the input has twice
		traffic := newTraffic(repeated, queues, 0, 7)
		to := &memory{}
		if err := traffic.run(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		submitted, refused := traffic.submitted.Load(), traffic.refused.Load()
		if submitted != int64(n)+1+want.again+want.elsewhere || refused != want.again+1 {
			t.Errorf("of %d: %d submitted, %d refused", n, submitted, refused)
		}
		// The second queue's copy comes right after the first queue's.
		for i, s := range to.seen {
			if id, second := strings.CutPrefix(s, "second/"); second && to.seen[i-1] != "first/"+id {
				t.Errorf("%s came after %s", s, to.seen[i-1])
			}
		}
	}
}

func TestPaymentsComeInAtTheirRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := newTraffic(incoming(151), queues, Options{Rate: 150}.pause(), 7).run(t.Context(), &memory{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began).Round(time.Millisecond); took != time.Second {
			t.Errorf("took %v, want 1s", took)
		}
	})
}

func TestALostReplyIsNoDuplicate(t *testing.T) {
	t.Parallel()
	traffic := newTraffic(incoming(100), queues, 0, 7)
	to := &memory{blip: "p50"}
	if err := traffic.run(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if n := traffic.refused.Load(); n != 15 || len(to.seen) != 105 {
		t.Errorf("%d refused, %d queued", n, len(to.seen))
	}
}

func TestAnErrorThatStaysEndsTheTraffic(t *testing.T) {
	t.Parallel()
	to := &memory{fail: "p50"}
	if err := newTraffic(incoming(100), queues, 0, 7).run(t.Context(), to); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newTraffic(incoming(100), queues, time.Hour, 7).run(ctx, &memory{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
