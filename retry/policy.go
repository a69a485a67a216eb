package retry

import (
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// MaxDelay bounds the delays that [Exponential] and [Constant] take: 90 days.
// Below it, doubling in floating point is exact to the nanosecond.
const MaxDelay = 90 * 24 * time.Hour

// Policy says how long to wait after an attempt that has to be repeated.
// Implementations are pure functions of the attempt number, but for [Jitter]'s
// chance, and safe for concurrent use.
type Policy interface {
	// Delay returns the wait after the given attempt, which counts from 1; a
	// smaller number is taken as 1. It is never negative.
	Delay(attempt int) time.Duration
}

// Failure is the policy after an attempt that failed: one second, doubled up to
// ten minutes, ±50 %. The package comment has its table.
func Failure() Policy { return Jitter(Exponential(time.Second, 10*time.Minute), 0.5) }

// Wait is the policy while something is taken or away, such as a lock that
// another holds: one second, doubled up to one minute, ±50 %. The package
// comment has its table.
func Wait() Policy { return Jitter(Exponential(time.Second, time.Minute), 0.5) }

// Exponential waits initial after the first attempt and twice as long after
// each further one, up to max: exactly, without any jitter. It panics unless
// 0 < initial <= max <= [MaxDelay].
func Exponential(initial, max time.Duration) Policy {
	if initial <= 0 || initial > max || max > MaxDelay {
		panic(fmt.Sprintf("retry: Exponential(%v, %v): want 0 < initial <= max <= %v", initial, max, MaxDelay))
	}
	steps := 1
	for d := initial; d < max; d *= 2 {
		steps++
	}
	return exponential{initial, max, steps}
}

type exponential struct {
	initial, max time.Duration
	steps        int // the attempt that reaches max
}

// Delay replays the back-off from its start, since its instances have a state
// that no two callers may share. It is at most 54 steps: from 1 ns to MaxDelay.
func (e exponential) Delay(attempt int) time.Duration {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(e.initial),
		backoff.WithMultiplier(2),
		backoff.WithMaxInterval(e.max),
		backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(0), // its default gives up after 15 minutes, with a delay of -1
	)
	d := b.NextBackOff()
	for range min(max(attempt, 1), e.steps) - 1 {
		d = b.NextBackOff()
	}
	return d
}

// Constant always waits d. It panics unless 0 <= d <= [MaxDelay].
func Constant(d time.Duration) Policy {
	if d < 0 || d > MaxDelay {
		panic(fmt.Sprintf("retry: Constant(%v): want 0 to %v", d, MaxDelay))
	}
	return constant(d)
}

type constant time.Duration

func (c constant) Delay(int) time.Duration { return time.Duration(c) }

// Jitter multiplies each delay of p by a random factor, uniform between 1-share
// and 1+share, so that those who failed together do not come back together. A
// delay at p's maximum may exceed that maximum by its share. It panics unless p
// is given and 0 <= share <= 1.
func Jitter(p Policy, share float64) Policy {
	if p == nil {
		panic("retry: Jitter: want a policy, got nil")
	}
	if !(share >= 0 && share <= 1) { // this way round, NaN is refused too
		panic(fmt.Sprintf("retry: Jitter: share %v: want 0 to 1", share))
	}
	return jittered{p, share}
}

type jittered struct {
	policy Policy
	share  float64
}

// Delay lets the first interval of a fresh back-off carry the chance.
func (j jittered) Delay(attempt int) time.Duration {
	d := j.policy.Delay(attempt)
	if d <= 0 || j.share == 0 {
		return max(d, 0)
	}
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(min(d, math.MaxInt64/4)), // a policy of somebody else's may say anything; twice it must not overflow
		backoff.WithRandomizationFactor(j.share),
		backoff.WithMaxElapsedTime(0),
	)
	return b.NextBackOff()
}
