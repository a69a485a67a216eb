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
// doubles. first says that the outage begins with this one.
func (o *outage) attempt() (n int, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if first = o.began.IsZero(); first {
		o.began = time.Now()
	}
	return 1 + bits.Len64(uint64(time.Since(o.began)/time.Second)), first
}

// over says that a quorum answered, and returns how long the outage lasted that
// this ends; 0 if there was none.
func (o *outage) over() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began.IsZero() {
		return 0
	}
	lasted := time.Since(o.began)
	o.began = time.Time{}
	return lasted
}
