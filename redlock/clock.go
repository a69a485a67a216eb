package redlock

import "time"

// Clock tells how much time has passed. It never steps, and it counts the time
// that the machine is suspended: a lease runs out meanwhile. Where it begins
// does not matter. It must be safe for concurrent use.
type Clock interface {
	Now() time.Duration
}

// systemClock is the machine's own: see clock_linux.go and clock_other.go.
type systemClock struct{ start time.Time }

func newSystemClock() Clock { return systemClock{start: time.Now()} }
