package redlock

import (
	"errors"
	"net"
	"time"
)

// Modes of the settle script.
const (
	modeAbandon = "abandon"
	modeRelease = "release"
	modeFinish  = "finish"
)

// settlement is the end of an attempt, as it is told to every node.
type settlement struct {
	mode      string
	done      string // completion record, for modeFinish
	retention time.Duration
	outcome   Outcome
	err       error
}

// abandon undoes what a failed attempt may have left on the nodes, and does not
// wait for it. Each node's sender tells it, again and again until it answers or
// the TTL has passed: by then a grant has run out on its own. It is queued behind
// the attempt's acquires, and dropped if none of them was sent.
func (a *attempt) abandon() {
	a.tell(settlement{mode: modeAbandon}, a.l.cfg.Clock.Now(), func(vote, bool) {}, func(i int) bool { return !a.touched(i) })
}

// reached notes that something of ours may be on a node.
func (a *attempt) reached(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[i] = true
}

func (a *attempt) touched(i int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[i] || a.pending[i] > 0 // both may travel in one pipeline
}

// leftNothing says that a failed acquire wrote nothing: it was never sent, or
// Redis refused it, which it does before the script's first write.
func leftNothing(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	return err != nil && answered(err)
}

// settle tells all nodes.
func (a *attempt) settle(s settlement, now time.Duration) *saying {
	judge := a.l.released
	if s.mode == modeFinish {
		judge = a.l.finished
	}
	said := newSaying(len(a.l.nodes), judge)
	a.tell(s, now, said.add, nil)
	return said
}

func (a *attempt) tell(s settlement, now time.Duration, said func(vote, bool), unless func(node int) bool) {
	l := a.l
	a.mu.Lock()
	highest := a.highest
	a.mu.Unlock()
	args := make([]any, 0, 6+len(a.claim.Keys))
	args = append(args, a.nonce, highest, s.mode)
	for _, k := range a.claim.Keys {
		args = append(args, l.channel(k))
	}
	if a.full {
		args = append(args, s.done, millis(s.retention), a.claim.Waiter)
	}
	answer := func(v vote, final bool) {
		said(v, final)
		if final {
			l.work.Done()
		}
	}
	l.work.Add(len(l.nodes)) // under the caller's own count, so never from zero while Close waits
	until := now + a.claim.TTL
	requests := make([]request, len(l.nodes))
	for i, n := range l.nodes {
		r := &requests[i]
		*r = request{
			verb: verbSettle, held: len(a.claim.Keys), keys: a.keys, args: args, bytes: len(s.done),
			until: until, pause: a.claim.TTL / 4, answer: answer,
		}
		if unless != nil {
			r.unless = func() bool { return unless(i) }
		}
		n.send(r)
	}
}
