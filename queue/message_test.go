package queue

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfastjobs/holdfast"
)

type named struct{ kind, id string }

func (n named) Kind() string  { return n.kind }
func (n named) JobID() string { return n.id }

type big struct {
	charge
	Card string
}

type unfit struct {
	charge
	Rate float64
	Card secret
}

type secret string

func (s secret) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot encode " + string(s)) }

func TestABadJobNamesTheFieldAndSendsNothing(t *testing.T) {
	b := unreachable(t)
	for _, c := range []struct {
		field string
		args  holdfast.Args
	}{
		{"Args", nil},
		{"Args", (*charge)(nil)},
		{"Args", unfit{Rate: math.NaN()}},
		{"Args", unfit{Card: "4111"}},
		{"Args", big{Card: strings.Repeat("4", 1<<10)}},
		{"Kind", named{"", "id"}},
		{"Kind", named{"Payments", "id"}},
		{"JobID", named{"k", "a/b"}},
		{"JobID", named{"k", "a b"}},
		{"JobID", named{"k", strings.Repeat("i", 201)}},
	} {
		_, err := b.Enqueue(t.Context(), c.args)
		refused(t, err, c.field)
	}
}

func TestAnErrorNamesTheTypeAndNeverThePayload(t *testing.T) {
	b := unreachable(t)
	for want, args := range map[string]holdfast.Args{
		`"queue.unfit" is not accepted`:             unfit{Card: "4111"},
		`"queue.big of 4126 bytes" is not accepted`: big{Card: strings.Repeat("4111", 1<<10)},
	} {
		_, err := b.Enqueue(t.Context(), args)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "4111") {
			t.Errorf("%v does not say %s, or too much", err, want)
		}
	}
}

func TestAStartIsAWholeSecondAndNeverEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		delay := time.Duration(rapid.Int64Range(1, int64(maxSpan)).Draw(t, "delay"))
		due := now.Add(delay)
		for _, s := range []settings{{delay: &delay}, {at: &due}} {
			start := s.start(now)
			if start.Nanosecond() != 0 || start.Before(due) || start.Sub(due) >= time.Second {
				t.Fatalf("due %v, start %v", due, start)
			}
		}
	})
}

func TestAJobThatIsDueAlreadyStartsAtOnce(t *testing.T) {
	b := setup(t, inProcess(t))
	b.must(t, charge{}, At(time.Now().Add(-time.Hour)))
	b.must(t, charge{}, Delay(0))
	if q, err := b.inspector.GetQueueInfo(b.queue); err != nil || q.Pending != 2 {
		t.Errorf("%+v, %v: want 2 pending", q, err)
	}
}
