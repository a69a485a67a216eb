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
	for i := range a.l.nodes {
		a.settleOn(i, settlement{mode: modeAbandon}, func() bool { return !a.touched(i) }, func(vote, bool) {})
	}
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
func (a *attempt) settle(s settlement) *saying {
	said := newSaying(len(a.l.nodes))
	for i := range a.l.nodes {
		a.settleOn(i, s, nil, said.add)
	}
	return said
}

func settleSHA(l *life) string { return l.settle.sha }

func (a *attempt) settleOn(i int, s settlement, unless func() bool, said func(vote, bool)) {
	l := a.l
	a.mu.Lock()
	highest := a.highest
	a.mu.Unlock()
	args := append(a.names[:len(a.names):len(a.names)], a.nonce, highest, s.mode, s.done, millis(s.retention), a.claim.Waiter)
	for _, k := range a.claim.Keys {
		args = append(args, l.channel(k))
	}
	l.work.Add(1) // under the caller's own count, so never from zero while Close waits
	l.nodes[i].send(&request{
		script: settleSHA, args: args, bytes: len(s.done), unless: unless,
		until: l.cfg.Clock.Now() + a.claim.TTL, pause: a.claim.TTL / 4,
		answer: func(v vote, final bool) {
			said(v, final)
			if final {
				l.work.Done()
			}
		},
	})
}
