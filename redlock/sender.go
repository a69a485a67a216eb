package redlock

import (
	"errors"
	"slices"
	"time"
)

// What travels in one pipeline at most.
const (
	maxBatch      = 256
	maxBatchBytes = 1 << 20 // of results; one alone may have no more than 64 KiB
)

// maxQueue is how many requests may wait for a node that answers more slowly than
// it is asked. Those that can fail then do: the others have a majority without it.
const maxQueue = 16 * maxBatch

var errSlow = errors.New("redlock: the node is slower than it is asked")

// longestRest is the longest pause before a node that is down is looked at again.
const longestRest = 250 * time.Millisecond

// request is one thing asked of one node.
type request struct {
	verb  string // of the script; "": args is a whole command
	held  int    // how many keys the claim has
	keys  []any  // those, and, of a full claim, all others that it goes with
	args  []any
	bytes int // of what may be large in args

	// A kept request outlives failures of its node: it is sent again until the
	// node answers or until has come.
	until time.Duration
	pause time.Duration // before a node that refused it is asked again
	due   time.Duration

	unless func() bool // asked right before it is sent: true drops it

	// answer hears of each outcome, from a goroutine that must not be held up: the
	// node's sender's, or, while the node is down, that of whoever sends. Only a
	// kept request has outcomes that are not final.
	answer func(v vote, final bool)
}

func (r *request) kept(now time.Duration) bool { return now < r.until }

// send hands a request to the node's sender. While the node is known to be down,
// only what is kept waits for it: a black-holed node costs one timeout, and not
// one for each request.
func (n *node) send(r *request) {
	n.mu.Lock()
	down, over := n.down, n.closed
	switch {
	case over:
		down = ErrClosed
	case down != nil:
		over = !r.kept(n.l.cfg.Clock.Now())
	case len(n.queue) >= maxQueue && r.until == 0:
		down, over = errSlow, true
	}
	if !over {
		n.queue = append(n.queue, r)
	}
	n.mu.Unlock()
	if down != nil {
		r.answer(vote{node: n.at, err: down, unsent: true}, over)
		return
	}
	n.wake()
}

func (n *node) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// serve is the sender: the only goroutine that speaks to the node. While it waits
// for one pipeline, what arrives gathers for the next.
func (n *node) serve() {
	var pause time.Duration
	failed := false
	for n.wait() {
		patience := longestRest
		err := n.join()
		if err != nil {
			patience = n.fail(err)
		} else {
			n.l.gather()
		}
		if err != nil || !n.exchange(n.take(), false) {
			n.rest(min(pause, patience))
			pause = min(max(2*pause, 10*time.Millisecond), longestRest)
			failed = true
			continue
		}
		if failed {
			n.l.returns.tell()
		}
		pause, failed = 0, false
	}
	n.fail(ErrClosed)
}

// wait returns true when there is something to do: to send, or to find out
// whether a node that was down is back.
func (n *node) wait() bool {
	for {
		n.mu.Lock()
		closed := n.closed || n.l.calls.Err() != nil // else it would try in vain, without rest
		busy, due := n.down != nil || len(n.queue) > 0, n.nextDue()
		n.mu.Unlock()
		left := due - n.l.cfg.Clock.Now()
		switch {
		case closed:
			return false
		case busy, due > 0 && left <= 0:
			return true
		case due > 0:
			n.rest(left)
		default:
			<-n.kick
		}
	}
}

// rest waits for d, or less when there is news.
func (n *node) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	n.mu.Lock()
	down := n.down != nil && !n.closed
	n.mu.Unlock()
	if down { // news change nothing but the end
		select {
		case <-timer.C:
		case <-n.l.calls.Done():
		}
		return
	}
	select {
	case <-timer.C:
	case <-n.kick:
	}
}

// nextDue is when the first waiting request is to be sent again; 0: none is. It
// is called with mu held.
func (n *node) nextDue() (due time.Duration) {
	for _, r := range n.waiting {
		if due == 0 || r.due < due {
			due = max(r.due, 1)
		}
	}
	return due
}

// take removes what is to be sent now: what waits for its second chance first,
// since it is older, then the queue, in order.
func (n *node) take() []*request {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.l.cfg.Clock.Now()
	var batch []*request
	bytes := 0
	fits := func(r *request) bool {
		if len(batch) == maxBatch || bytes+r.bytes > maxBatchBytes {
			return false
		}
		batch, bytes = append(batch, r), bytes+r.bytes
		return true
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(r *request) bool { return r.due <= now && fits(r) })
	sent := 0
	for sent < len(n.queue) && fits(n.queue[sent]) {
		sent++
	}
	n.queue = slices.Delete(n.queue, 0, sent)
	return batch
}

// fail notes that the node does not answer, and tells everyone: those who cannot
// wait for the last time. It returns how long the first of the others still can.
func (n *node) fail(err error) (patience time.Duration) {
	now := n.l.cfg.Clock.Now()
	patience = time.Second
	n.mu.Lock()
	n.down = err
	all := slices.Concat(n.waiting, n.queue)
	n.waiting, n.queue = nil, nil
	over := make([]bool, len(all))
	for i, r := range all {
		if over[i] = n.closed || !r.kept(now); !over[i] {
			n.waiting = append(n.waiting, r)
			patience = min(patience, r.until-now)
		}
	}
	n.mu.Unlock()
	for i, r := range all {
		r.answer(vote{node: n.at, err: err, unsent: true}, over[i])
	}
	return patience
}

// shut tells the sender to end. Nobody sends any more.
func (n *node) shut() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.wake()
}

// close waits until the sender has ended.
func (n *node) close() error {
	n.loop.Wait()
	return n.wire.close()
}
