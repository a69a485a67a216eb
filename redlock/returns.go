package redlock

import "sync"

// returns wakes those who wait for a quorum when a node has joined.
type returns struct {
	mu   sync.Mutex
	next chan struct{}
}

// await is closed at the next return.
func (r *returns) await() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = make(chan struct{})
	}
	return r.next
}

func (r *returns) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != nil {
		close(r.next)
		r.next = nil
	}
}
