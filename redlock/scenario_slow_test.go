//go:build slow

package redlock

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestSlowAHundredThousandExtensionsRaceReleases(t *testing.T) {
	extensionsRaceReleases(t, 10, 10_000)
}

func TestSlowTwentyThousandLeasesOutliveFiveTTLs(t *testing.T) {
	const leases, ttl = 20_000, 5 * time.Second
	l := newLocker(t, realNodes(t, 3), func(c *Config) { c.TTL = ttl })
	free(t, l, newKey(t))
	goroutines, bytes := quiet(t), heap()
	held := make([]*Lease, leases)
	allAtOnce(50, func(i int) {
		for i := i; i < leases; i += 50 {
			s, err := l.Acquire(t.Context(), Key(newKey(t)))
			if err != nil {
				t.Error(err)
				return
			}
			held[i] = s
		}
	})
	if t.Failed() {
		return
	}
	// What is running now runs for the leases and not for their acquires.
	busy := cpu(t)
	rest(t.Context(), 5*ttl)
	share := (cpu(t) - busy).Seconds() / (5 * ttl).Seconds()
	most := runtime.NumGoroutine()
	perLease := (heap() - bytes) / leases
	lost := 0
	for _, s := range held {
		if s.Context().Err() != nil {
			lost++
		}
	}
	t.Logf("%d leases at a TTL of %v: %d goroutines more than with none, %d bytes a lease, %.0f %% of a core", leases, ttl, most-goroutines, perLease, 100*share)
	if lost > 0 || most > goroutines+20 {
		t.Errorf("%d of %d lost, %d goroutines with and %d without", lost, leases, most, goroutines)
	}
	allAtOnce(50, func(i int) {
		for i := i; i < leases; i += 50 {
			if got, err := held[i].Release(t.Context()); got != Released && !errors.Is(held[i].Err(), ErrLost) {
				t.Error(got, err)
				return
			}
		}
	})
}

// heap is what is in use once the garbage is gone.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpu is what the process has used so far.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
