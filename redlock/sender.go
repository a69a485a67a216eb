package redlock

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// What travels in one pipeline at most.
const (
	maxBatch      = 256
	maxBatchBytes = 1 << 20 // of results; one alone may have no more than 64 KiB
)

// request is one command for one node.
type request struct {
	script func(*life) string // the SHA to call; nil: args is the whole command
	args   []any              // what follows the SHA
	bytes  int                // of what may be large in args

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
	if over {
		down = ErrClosed
	} else if down != nil {
		over = !r.kept(n.l.cfg.Clock.Now())
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
	for n.wait() {
		if err := n.join(); err != nil {
			n.rest(min(pause, n.fail(err)))
			pause = min(max(2*pause, 10*time.Millisecond), time.Second)
			continue
		}
		pause = 0
		n.l.gather()
		n.exchange(n.take(), false)
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

// exchange sends a batch in one pipeline and hands out the answers. What meets a
// node that has forgotten its scripts, or that says that this is another life of
// it, is sent again once after joining; the rest of the batch is not.
func (n *node) exchange(batch []*request, joined bool) {
	batch = slices.DeleteFunc(batch, func(r *request) bool {
		drop := r.unless != nil && r.unless()
		if drop {
			r.answer(vote{node: n.at, unsent: true}, true)
		}
		return drop
	})
	if len(batch) == 0 {
		return
	}
	votes := n.pipeline(batch)
	var again []*request
	var broken error
	for i, r := range batch {
		v := votes[i]
		if !joined && (v.reply.code == codeRejoin || redis.HasErrorPrefix(v.err, "NOSCRIPT")) {
			again = append(again, r)
			continue
		}
		if v.err != nil && !answered(v.err) {
			broken = v.err
		}
		n.settle(r, v)
	}
	if broken == nil && len(again) > 0 {
		n.life.Store(nil)
		if broken = n.join(); broken == nil {
			n.exchange(again, true)
			return
		}
	}
	if broken != nil {
		for _, r := range again {
			n.settle(r, vote{node: n.at, err: broken})
		}
		n.life.Store(nil)
		n.fail(broken)
	}
}

// settle hands an outcome out, and keeps what is to be said again.
func (n *node) settle(r *request, v vote) {
	now := n.l.cfg.Clock.Now()
	if v.err == nil || !r.kept(now) {
		r.answer(v, true)
		return
	}
	r.answer(v, false)
	r.due = now
	if answered(v.err) { // it answers, and would say the same at once
		r.due = min(now+r.pause, r.until)
	}
	n.mu.Lock()
	n.waiting = append(n.waiting, r)
	n.mu.Unlock()
}

// fail notes that the node does not answer, and tells everyone: those who cannot
// wait for the last time. It returns how long the first of the others still can.
func (n *node) fail(err error) (patience time.Duration) {
	now := n.l.cfg.Clock.Now()
	patience = time.Second
	n.mu.Lock()
	n.down = err
	all := append(n.waiting, n.queue...)
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

// answered says that Redis itself gave the error: it did answer.
func answered(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// pipeline makes one round trip, and learns the node's clock from it.
func (n *node) pipeline(batch []*request) []vote {
	life := n.life.Load()
	cmds := make([][]any, len(batch))
	for i, r := range batch {
		if cmds[i] = r.args; r.script != nil {
			cmds[i] = append(append(make([]any, 0, 2+len(r.args)), "EVALSHA", r.script(life)), r.args...)
		}
	}
	ctx, cancel := context.WithTimeout(n.l.calls, n.l.cfg.NodeTimeout)
	defer cancel()
	sent := n.l.cfg.Clock.Now()
	answers := n.wire.pipeline(ctx, cmds)
	received := n.l.cfg.Clock.Now()
	votes := make([]vote, len(batch))
	first, last := int64(0), int64(0)
	for i, r := range batch {
		v := vote{node: n.at, sent: sent, err: answers[i].err}
		if v.err == nil || errors.Is(v.err, redis.Nil) {
			v.reply, v.err = n.read(r, answers[i])
		}
		if v.reply.now > 0 {
			if first == 0 {
				first = v.reply.now
			}
			last = v.reply.now
		}
		votes[i] = v
	}
	// Of the readings of one batch these two bound the clock most.
	for _, at := range []int64{first, last} {
		if at > 0 {
			n.l.clocks.observe(n.at, sent, received, at)
		}
	}
	return votes
}

// read is the reply to a script, or to one of the few plain commands.
func (n *node) read(r *request, a answer) (reply, error) {
	switch {
	case r.script != nil:
		return readReply(n.name, a.text)
	case a.err != nil: // nil, the reply
		return reply{code: codeNone}, nil
	case r.args[0] == "TIME" && len(a.text) == 2:
		return reply{code: codeOK, now: timeOf(a.text)}, nil
	}
	return reply{code: codeDone, fields: a.text}, nil
}

// timeOf is the reply to TIME, in microseconds.
func timeOf(text []string) int64 {
	sec, _ := strconv.ParseInt(text[0], 10, 64)
	micro, _ := strconv.ParseInt(text[1], 10, 64)
	return sec*1e6 + micro
}

// close ends the sender. Nobody sends any more.
func (n *node) close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.wake()
	n.loop.Wait()
	return n.wire.close()
}
