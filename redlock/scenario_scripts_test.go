package redlock

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// Somebody flushes scripts all the time: between load and use, too.
func TestScriptsThatVanishBetweenLoadAndUseLoseNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	l := rigLocker(t, r.direct())
	ctx, cancel := context.WithCancel(t.Context())
	var flushes atomic.Int64
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		for ctx.Err() == nil { // one node for a while, then the next
			if _, err := r.servers[flushes.Load()/5%3].Command(ctx, "SCRIPT", "FLUSH"); err == nil {
				flushes.Add(1)
			}
			rest(ctx, time.Millisecond)
		}
	}()
	kept := await(t, l, Key(newKey(t)))
	allAtOnce(4, func(int) {
		for range 50 {
			err := l.Do(t.Context(), newKey(t), func(ctx context.Context) error {
				s, _ := LeaseFrom(ctx)
				return s.Check(ctx)
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	if err := kept.Check(t.Context()); err != nil || kept.Context().Err() != nil {
		t.Error(err, context.Cause(kept.Context()))
	}
	cancel()
	<-flushed
	if flushes.Load() < 20 {
		t.Errorf("only %d flushes", flushes.Load())
	}
}
