package main

import (
	"context"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/holdfastjobs/holdfast/bench/internal/nodes"
)

// usage is what the process was seen to use.
type usage struct {
	goroutines int    // the median of many looks
	most       int    // the most of them
	heap       uint64 // bytes
}

const looks = 100

// watch looks at the goroutines 100 times in d.
func watch(ctx context.Context, d time.Duration) (usage, error) {
	tick := time.NewTicker(max(d/looks, time.Millisecond))
	defer tick.Stop()
	var counts []int
	for range looks {
		select {
		case <-tick.C:
			counts = append(counts, runtime.NumGoroutine())
		case <-ctx.Done():
			return usage{}, context.Cause(ctx)
		}
	}
	slices.Sort(counts)
	return usage{goroutines: counts[looks/2], most: counts[looks-1]}, nil
}

// heap is what is in use after everything was collected: what the first
// collection finalizes, the second one frees.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// cpu is the processor time that was used so far, in seconds.
type cpu struct {
	at               time.Time
	process, servers float64
}

func readCPU(ctx context.Context, set *nodes.Set) (cpu, error) {
	servers, err := set.CPU(ctx)
	if err != nil {
		return cpu{}, err
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return cpu{}, err
	}
	process := time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	return cpu{at: time.Now(), process: process, servers: servers}, nil
}
