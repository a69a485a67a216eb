//go:build !linux

package redlock

import "time"

// Now is the larger of monotonic and wall time since the start: the wall clock
// alone goes on during suspend, and a wall clock that is set back is outrun by
// the monotonic one.
func (c systemClock) Now() time.Duration {
	wall := time.Now().Round(0).Sub(c.start.Round(0))
	return max(time.Since(c.start), wall)
}
