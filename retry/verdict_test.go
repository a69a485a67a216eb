package retry

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOfReadsWhatWasMarked(t *testing.T) {
	late := Later(io.EOF, time.Minute)
	cases := map[string]struct {
		err  error
		want Verdict
	}{
		"nil is done":                   {nil, Verdict{Kind: KindDone}},
		"a plain error is retried":      {io.EOF, Verdict{Kind: KindRetry}},
		"never":                         {Never(io.EOF), Verdict{Kind: KindNever}},
		"after":                         {After(io.EOF, time.Hour), Verdict{KindAfter, time.Hour}},
		"later":                         {late, Verdict{KindLater, time.Minute}},
		"a negative delay is none":      {After(io.EOF, -time.Hour), Verdict{KindAfter, 0}},
		"a wrapped mark counts":         {fmt.Errorf("charge: %w", late), Verdict{KindLater, time.Minute}},
		"the outer mark wins":           {Never(fmt.Errorf("gave up: %w", late)), Verdict{Kind: KindNever}},
		"joined: a mark beats none":     {errors.Join(io.EOF, After(io.EOF, 1)), Verdict{KindAfter, 1}},
		"joined: never beats after":     {errors.Join(After(io.EOF, 1), Never(io.EOF)), Verdict{Kind: KindNever}},
		"joined: later beats never":     {errors.Join(Never(io.EOF), late), Verdict{KindLater, time.Minute}},
		"joined: the longer delay wins": {errors.Join(late, Later(io.EOF, 1)), Verdict{KindLater, time.Minute}},
		"two %w are joined":             {fmt.Errorf("%w, %w", io.EOF, Never(io.EOF)), Verdict{Kind: KindNever}},
		"a wrapper of nothing":          {hollow{}, Verdict{Kind: KindRetry}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Of(c.err); got != c.want {
				t.Errorf("Of(%v) = %+v, want %+v", c.err, got, c.want)
			}
		})
	}
}

type hollow struct{}

func (hollow) Error() string { return "hollow" }
func (hollow) Unwrap() error { return nil }

func TestMarkingNilIsNil(t *testing.T) {
	if err := errors.Join(Never(nil), After(nil, time.Hour), Later(nil, time.Hour)); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAMarkHidesNothing(t *testing.T) {
	for _, err := range []error{Never(io.EOF), After(io.EOF, 1), Later(io.EOF, 1)} {
		if !errors.Is(err, io.EOF) || err.Error() != "EOF" {
			t.Errorf("%v is not EOF any more", err)
		}
	}
}

func TestTheOrderOfJoinedErrorsDoesNotMatter(t *testing.T) {
	anyError := rapid.Custom(func(t *rapid.T) error {
		d := time.Duration(rapid.IntRange(0, 3).Draw(t, "delay"))
		return []error{io.EOF, Never(io.EOF), After(io.EOF, d), Later(io.EOF, d)}[rapid.IntRange(0, 3).Draw(t, "mark")]
	})
	rapid.Check(t, func(t *rapid.T) {
		errs := rapid.SliceOfN(anyError, 1, 6).Draw(t, "errors")
		shuffled := rapid.Permutation(errs).Draw(t, "shuffled")
		nested := fmt.Errorf("nested: %w", errors.Join(shuffled[0], errors.Join(shuffled[1:]...)))
		if a, b := Of(errors.Join(errs...)), Of(nested); a != b {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestEveryKindHasAName(t *testing.T) {
	got := fmt.Sprint(KindDone, KindRetry, KindAfter, KindNever, KindLater, Kind(99))
	if want := "done retry after never later unknown"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
