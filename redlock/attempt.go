package redlock

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// maxProposals bounds the tokens that one attempt proposes. The second already
// knows every floor and clock; more only help against rivals in between.
const maxProposals = 4

// attempt is one try to take a claim, under one nonce.
type attempt struct {
	l     *Locker
	claim Claim
	nonce string
	visit string // the call that it belongs to: contention counts once per call
	keys  []any  // of the acquire and the settlement
	full  bool   // those of the completion record and of the waiters are among them

	verdicts chan verdict // room for one: of the current tally

	mu      sync.Mutex
	tally   *tally        // of the last proposal
	told    bool          // its verdict
	highest int64         // token proposed
	since   time.Duration // when it was proposed, or shortly before
	pending []int         // per node: acquires without an answer
	asked   []bool        // per node: an acquire of ours may have arrived there
	lease   *Lease        // set when won: later grants go there
	record  completion
}

func (l *Locker) newAttempt(c Claim, visit string) *attempt {
	a := &attempt{l: l, claim: c, nonce: l.nonce(), visit: visit, verdicts: make(chan verdict, 1), asked: make([]bool, len(l.nodes)), pending: make([]int, len(l.nodes))}
	a.full = c.Record != "" || c.Waiter != ""
	a.keys = make([]any, 0, 1+2*len(c.Keys))
	for _, k := range c.Keys {
		a.keys = append(a.keys, l.recordKey(k))
	}
	if a.full {
		a.keys = append(a.keys, l.doneKey(cmp.Or(c.Record, c.Keys[0])))
		for _, k := range c.Keys {
			a.keys = append(a.keys, l.waitersKey(k))
		}
	}
	return a
}

// run returns a lease, or exactly one of [HeldError], [DoneError],
// [NoQuorumError], [ConfigError], [ErrClosed] and ctx's own error. What a failed
// attempt left on the nodes is cleaned up behind the caller's back.
func (a *attempt) run(ctx context.Context) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx, "acquire")
	}
	a.since = a.l.cfg.Clock.Now()
	if err := a.l.readClocks(ctx, a.claim.TTL, a.since); err != nil {
		return nil, err
	}
	lease, err := a.vote(ctx)
	if err != nil {
		a.abandon()
	}
	return lease, err
}

func (a *attempt) vote(ctx context.Context) (*Lease, error) {
	next := proposal{done: doneAsk}
	switch {
	case a.claim.Record == "":
		next.done = doneNone
	case a.claim.again:
		next.done = doneAdopt
	}
	for try := 1; ; try++ {
		t := a.propose(next)
		v, err := a.await(ctx)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		next.seen = max(next.seen, t.seen())
		a.note(t)
		silent := t.silent()
		a.mu.Unlock()
		switch {
		case v == won:
			return a.win(ctx, t)
		case v == done:
			return nil, a.doneError(t)
		case v == held:
			return nil, a.heldError(t)
		case v == noQuorum && silent && !next.again && try < maxProposals:
			// A reply may be lost where the request was not: the same token, said
			// again, is answered as before.
			next.again = true
			continue
		case v == noQuorum, try == maxProposals:
			return nil, a.nobody(t)
		case v == adopt:
			next.done = doneAdopt
		}
		next.again = false
		pause(ctx, jitter(a.nonce, try, time.Duration(try)*2*time.Millisecond))
	}
}

// nobody is why no majority granted. Late answers still come in.
func (a *attempt) nobody(t *tally) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.l.nobody("acquire", t.votes)
}

// deliver hands a vote to whom it matters now: the count, or the lease that was
// won without it. It runs on the node's sender, before any settlement of this
// attempt is sent there.
func (a *attempt) deliver(v vote) {
	l := a.l
	v.mute = v.err == nil && !l.clocks.votes(v.node, margin(a.claim.TTL), v.heard)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[v.node]--
	if !v.unsent && !leftNothing(v.err) {
		a.asked[v.node] = true
	}
	if a.lease != nil {
		if v.yes(codeOK) && v.reply.number(0) == a.lease.token {
			a.lease.confirm(v.node, v.sent)
		}
		return
	}
	a.tally.add(v)
	if verdict := a.tally.verdict(); verdict != undecided && !a.told {
		a.told = true
		a.verdicts <- verdict // has room: the last one was read before this tally began
	}
}

// open reports whether the attempt still wants an answer.
func (a *attempt) open() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lease == nil && !a.told
}

// await returns the verdict on the last proposal.
func (a *attempt) await(ctx context.Context) (verdict, error) {
	select {
	case v := <-a.verdicts:
		return v, nil
	case <-ctx.Done():
		return undecided, ended(ctx, "acquire")
	case <-a.l.open.Done():
		return undecided, ErrClosed
	}
}

// win turns a majority of grants into a lease, if they came in time. One that did
// not must not stay hooked into the caller's context. When there is a completion
// record that too few nodes keep, it is completed, and answered.
func (a *attempt) win(ctx context.Context, t *tally) (*Lease, error) {
	lease, err := a.seal(ctx, t)
	if err == nil && a.record.kind == kindDone && !a.claim.again {
		return nil, a.adopt(lease)
	}
	return lease, err
}

var errTooLate = errors.New("granted, but the answer came when its time was over")

func (a *attempt) seal(ctx context.Context, t *tally) (*Lease, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lease := newLease(ctx, a, t)
	if lease.end() <= a.l.cfg.Clock.Now() {
		lease.cancel(ErrNoQuorum)
		for i, v := range t.votes {
			if t.granted(v) {
				t.votes[i] = vote{node: v.node, err: errTooLate}
			}
		}
		return nil, a.l.noQuorum("acquire", t.votes)
	}
	if !a.l.keeper.add(lease) {
		lease.cancel(ErrClosed)
		return nil, ErrClosed
	}
	a.lease = lease
	return lease, nil
}

func (a *attempt) heldError(t *tally) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := &HeldError{Key: a.claim.Keys[0]}
	for _, v := range t.votes {
		if !v.said(codeHeld) {
			continue
		}
		if token := v.reply.number(1); token >= e.Token {
			if k := int(v.reply.number(0)); k >= 1 && k <= len(a.claim.Keys) {
				e.Key = a.claim.Keys[k-1]
			}
			e.Token, e.Left = token, time.Duration(v.reply.number(2)-v.reply.now)*time.Microsecond
		}
	}
	var since int64
	e.Count, since = t.waited(codeHeld, 3)
	e.Since = nodeTime(since)
	if since > 0 {
		e.Waited = max(0, time.Duration(a.l.clocks.nodeNow()-since)*time.Microsecond)
	}
	return e
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
