package redlock

import "fmt"

// Why a lease was lost.
type Why string

const (
	LostExpired   Why = "expired"   // no majority confirmed it in time
	LostTaken     Why = "taken"     // a majority said that it is another's
	LostReleased  Why = "released"  // a majority said that it is released, and not by this lease
	LostUnhealthy Why = "unhealthy" // Claim.Healthy said so
	LostStalled   Why = "stalled"   // no Beat within Claim.Stall
	LostMaxHold   Why = "max hold"  // held for Claim.MaxHold
	LostClosed    Why = "closed"    // the Locker was closed
)

// LostError is the cause with which the context of a lost lease ends. It Is
// [ErrLost], and [ErrClosed] when Why is [LostClosed].
type LostError struct {
	Key   string // the lease's first
	Token int64
	Why   Why
	Err   error // what Claim.Healthy returned; nil for every other Why
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("redlock: lease on %q under token %d lost: %s", e.Key, e.Token, e.Why)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *LostError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrLost], or [ErrClosed] after Close.
func (e *LostError) Is(target error) bool {
	return target == ErrLost || target == ErrClosed && e.Why == LostClosed
}
