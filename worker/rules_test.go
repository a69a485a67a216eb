package worker

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast/retry"
)

func FuzzSinceWhenAKindIsUnknownSurvivesTheQueue(f *testing.F) {
	f.Add("payments.charge", uint32(1751364000))
	f.Add(`a" since 2026-01-01T00:00:00Z`, uint32(0))
	f.Add("email:deliver", uint32(1751364000))
	f.Fuzz(func(t *testing.T, kind string, unix uint32) {
		since := time.Unix(int64(unix), 0).UTC()
		stored := text(retry.Later(unknownError{kind, since}, time.Second))
		if got, ok := parseUnknown(kind, stored); len(kind) < maxText/8 && (!ok || !got.Equal(since)) {
			t.Errorf("%q: %v, want %v", stored, got, since)
		}
		if _, ok := parseUnknown(kind+"x", stored); ok {
			t.Errorf("%q was read as another kind's", stored)
		}
	})
}

func TestForeignKindsAreWarnedOfOnceEachAndNotWithoutEnd(t *testing.T) {
	var w warned
	logged := 0
	for range 2 {
		for i := range 3 * maxWarned {
			if w.first(strconv.Itoa(i)) {
				logged++
			}
		}
	}
	if logged != maxWarned || len(w.kinds) != maxWarned {
		t.Errorf("%d warnings, %d kinds kept, want %d", logged, len(w.kinds), maxWarned)
	}
}

func TestAnUnknownKindsDelayDoublesItsWait(t *testing.T) {
	for waited, want := range map[time.Duration]time.Duration{0: time.Second, 3 * time.Second: 3 * time.Second, time.Hour: time.Minute} {
		if got := unknownDelay(waited); got != want {
			t.Errorf("after %s: %s, want %s", waited, got, want)
		}
	}
}

func TestDelaysAreWholeSecondsRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{-time.Hour: 0, 0: 0, 1: time.Second, time.Second: time.Second, 1500 * time.Millisecond: 2 * time.Second} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestADeadWorkerCostsItsJobNeitherAnAttemptNorADelay(t *testing.T) {
	w := &Worker{cfg: Config{Retry: retry.Constant(time.Hour)}.withDefaults()}
	if isFailure(asynq.ErrLeaseExpired) || w.retryDelay(0, asynq.ErrLeaseExpired, nil) != 0 {
		t.Error("it does")
	}
	if other := errors.New("context canceled"); !isFailure(other) || w.retryDelay(0, other, nil) != time.Hour {
		t.Error("what asynq itself ends is a failure like any other")
	}
}

// hostile is an error that does not print.
type hostile struct{ *int }

func (h hostile) Error() string { return strings.Repeat("x", *h.int) }

func TestAnErrorsTextIsWhatRedisCanKeep(t *testing.T) {
	for _, err := range []error{hostile{}, errors.New("card \xff"), errors.New(strings.Repeat("é", maxText))} {
		if got := text(err); !utf8.ValidString(got) || len(got) > maxText+9 || got == "" {
			t.Errorf("%.40q, %d bytes", got, len(got))
		}
	}
}

func TestADecodeErrorDoesNotQuoteThePayload(t *testing.T) {
	for payload, target := range map[string]any{
		`{"Secret":"4242"}`:   new(struct{ Secret int }),
		`{"Secret":4242}`:     new(struct{ Secret int8 }),
		`{"Secret":"4242"} x`: new(struct{ Secret string }),
		`{"Secret":"4242`:     new(struct{ Secret string }),
		`{"Secret":"4242" }`:  new(struct{ Secret time.Time }),
		`{"Secret":"x4242"}`:  new(struct{ Secret *big.Int }),
		`{"secret":"y4242"}`: new(struct {
			Secret int `json:"secret,string"`
		}),
		``: new(struct{}),
	} {
		err := json.Unmarshal([]byte(payload), target)
		got := (&DecodeError{Kind: "k", Type: reflect.TypeOf(target), Err: err}).Error()
		if err == nil || strings.Contains(got, "4242") {
			t.Errorf("%s: %s", payload, got)
		}
	}
}
