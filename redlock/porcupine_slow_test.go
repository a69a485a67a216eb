//go:build slow

package redlock

import (
	"testing"
	"time"
)

func TestSlowHistoriesAreAccepted(t *testing.T) {
	for name, c := range historyTrials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := c.record(t, 30*time.Second, 300*time.Millisecond)
			c.accepted(t, j)
			c.violationsAreRefused(t, j)
		})
	}
}
