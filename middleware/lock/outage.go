package lock

import (
	"math/bits"
	"sync"
	"time"
)

// outage is the time since this process last heard from a quorum. Lock nodes
// that do not answer cannot count attempts, so the age of the outage does.
type outage struct {
	mu    sync.Mutex
	began time.Time
}

// attempt is the number of tries, at 1, 2, 4 s … apart, that a job would be at
// if it had tried since the outage began: 1, and one more each time its age
// doubles.
func (o *outage) attempt() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began.IsZero() {
		o.began = time.Now()
	}
	return 1 + bits.Len64(uint64(time.Since(o.began)/time.Second))
}

// over says that a quorum answered.
func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began = time.Time{}
}
