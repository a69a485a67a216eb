package lock

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfastjobs/holdfast/redlock"
)

// hold is a lease as the worker sees it that waits for the handler: the
// [holdfast.Hold] in the handler's context.
type hold struct {
	lease  *redlock.Lease
	lapsed atomic.Bool
	left   atomic.Bool // the handler still runs, and nobody waits for it
}

var errStillRuns = errors.New("its handler still runs")

func (h *hold) Stands() (left time.Duration, extended bool) {
	return h.lease.Left(), h.lease.Err() == nil && !h.lapsed.Load()
}

func (h *hold) Lapse() {
	h.lapsed.Store(true)
	h.lease.Lapse()
}

func (h *hold) Leave() {
	h.Lapse()
	h.left.Store(true)
}

// release frees the keys, unless their handler still runs, and returns nil if
// they were ours until then. When too few nodes answer they were: the lease was
// valid, and the keys are free after TTL.
func (h *hold) release(ctx context.Context) error {
	if h.left.Load() {
		if h.lease.Left() > 0 {
			return nil
		}
		return cmp.Or(h.lease.Err(), redlock.ErrLost)
	}
	outcome, _ := h.lease.Release(ctx)
	if lost := h.lease.Err(); lost != nil {
		return lost
	}
	if outcome == redlock.Expired {
		return redlock.ErrLost
	}
	return nil
}
