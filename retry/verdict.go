package retry

import "time"

// Never marks err as final: trying again cannot help. Never(nil) is nil.
func Never(err error) error { return mark(err, Verdict{Kind: KindNever}) }

// After marks err as a failure like any other, counted, to be tried again after
// d instead of the policy's delay. A negative d is 0. After(nil, d) is nil.
func After(err error, d time.Duration) error {
	return mark(err, Verdict{Kind: KindAfter, Delay: max(d, 0)})
}

// Later marks err as no failure at all: nothing was tried, so nothing is
// counted, and it is to be tried after d. A negative d is 0.
//
// Later(nil, d) is nil, as with the others, and nil means done: who has no
// error to give must make one.
func Later(err error, d time.Duration) error {
	return mark(err, Verdict{Kind: KindLater, Delay: max(d, 0)})
}

// Kind is what an error means for the work it came from.
type Kind int

// In the order in which they win among the errors of an errors.Join.
const (
	KindDone  Kind = iota // no error
	KindRetry             // an unmarked error: counted, tried again after the policy's delay
	KindAfter             // counted, tried again after Verdict.Delay
	KindNever             // final
	KindLater             // not counted, tried after Verdict.Delay
)

// String returns done, retry, after, never or later.
func (k Kind) String() string {
	switch k {
	case KindDone:
		return "done"
	case KindRetry:
		return "retry"
	case KindAfter:
		return "after"
	case KindNever:
		return "never"
	case KindLater:
		return "later"
	}
	return "unknown"
}

// Verdict is the answer of [Of].
type Verdict struct {
	Kind  Kind
	Delay time.Duration // of KindAfter and KindLater
}

// Of returns what err means.
//
// Where one error wraps another, the outer mark wins: who spoke last knew more.
// Where errors stand side by side, in errors.Join or fmt.Errorf with several
// %w, the order is later, never, after, unmarked: work that one of them wants
// put back may no longer be ours to give up, and a final failure is not cured
// by a retry that another one asked for. Of two equal kinds the longer delay
// wins.
func Of(err error) Verdict {
	if err == nil {
		return Verdict{Kind: KindDone}
	}
	return find(err)
}

func find(err error) Verdict {
	switch e := err.(type) { //nolint:errorlint // this is the unwrapping
	case *marked:
		return e.verdict
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return find(inner)
		}
	case interface{ Unwrap() []error }:
		best := Verdict{Kind: KindRetry}
		for _, inner := range e.Unwrap() {
			if inner == nil {
				continue
			}
			if v := find(inner); v.Kind > best.Kind || v.Kind == best.Kind && v.Delay > best.Delay {
				best = v
			}
		}
		return best
	}
	return Verdict{Kind: KindRetry}
}

// marked adds a verdict to an error and nothing to its text, which operators
// search for.
type marked struct {
	error
	verdict Verdict
}

func (m *marked) Unwrap() error { return m.error }

func mark(err error, v Verdict) error {
	if err == nil {
		return nil
	}
	return &marked{err, v}
}
