package redlock

import (
	"cmp"
	"context"
	"math/rand/v2"
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

	highest  int64            // token proposed; written before any settlement reads it
	inflight []sync.WaitGroup // per node: acquires that were sent and not answered
	votes    chan vote        // of all proposals; never blocks a sender

	mu    sync.Mutex
	lease *Lease // set when won: later grants go there
	trace []bool // per node: something of ours may be there
}

func (l *Locker) newAttempt(c Claim, visit string) *attempt {
	n := len(l.nodes)
	return &attempt{
		l: l, claim: c, nonce: newNonce(), visit: visit,
		inflight: make([]sync.WaitGroup, n), trace: make([]bool, n),
		votes: make(chan vote, n*maxProposals),
	}
}

// run returns a lease, or exactly one of [HeldError], [DoneError],
// [NoQuorumError], [ErrClosed] and ctx's own error. What a failed attempt left
// on the nodes is cleaned up behind the caller's back.
func (a *attempt) run(ctx context.Context) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx, "acquire")
	}
	if err := a.l.readClocks(ctx); err != nil {
		return nil, err
	}
	lease, err := a.vote(ctx)
	if err != nil {
		a.abandon()
	}
	return lease, err
}

func (a *attempt) vote(ctx context.Context) (*Lease, error) {
	var seen int64
	for proposal := 1; ; proposal++ {
		t := &tally{nodes: len(a.l.nodes), need: a.l.need, token: a.propose(seen)}
		v, err := a.await(ctx, t)
		switch {
		case err != nil:
			return nil, err
		case v == won:
			return a.win(ctx, t)
		case v == done:
			return nil, a.doneError(t)
		case v == held:
			return nil, a.heldError(t)
		case v == noQuorum, proposal == maxProposals:
			return nil, a.l.noQuorum("acquire", t.votes)
		}
		seen = t.seen()
		pause(ctx, rand.N(time.Duration(proposal)*2*time.Millisecond))
	}
}

// propose sends one token to every node.
func (a *attempt) propose(seen int64) int64 {
	l := a.l
	token := l.tokens.propose(l.nodeNow(), seen, l.cfg.Bound)
	a.highest = max(a.highest, token)
	keys, args := a.keys(), a.args(token)
	for i, n := range l.nodes {
		a.inflight[i].Add(1)
		l.work.Go(func() {
			defer a.inflight[i].Done()
			v := vote{node: i, token: token, sent: l.cfg.Clock.Now()}
			v.reply, v.err = n.run(l.calls, l.scripts.acquire, keys, args...)
			a.deliver(v)
		})
	}
	return token
}

// deliver hands a vote to whom it matters now: the count, or the lease that was
// won without it.
func (a *attempt) deliver(v vote) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if v.reply.code == codeOK || v.err != nil && !leftNothing(v.err) {
		a.trace[v.node] = true
	}
	if a.lease == nil {
		a.votes <- v
	} else if v.err == nil && v.reply.code == codeOK && v.reply.number(0) == a.lease.token {
		a.lease.confirm(v.node, v.sent)
	}
}

// await counts votes until they are decisive. Answers to an earlier proposal are
// older than what their nodes say next, and are passed over.
func (a *attempt) await(ctx context.Context, t *tally) (verdict, error) {
	for {
		if v := t.verdict(); v != undecided {
			return v, nil
		}
		select {
		case v := <-a.votes:
			t.add(v)
		case <-ctx.Done():
			return undecided, ended(ctx, "acquire")
		case <-a.l.open.Done():
			return undecided, ErrClosed
		}
	}
}

// win turns a majority of grants into a lease, if they came in time. One that did
// not must not stay hooked into the caller's context.
func (a *attempt) win(ctx context.Context, t *tally) (*Lease, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.votes) > 0 { // came since the verdict; what comes later finds the lease
		t.add(<-a.votes)
	}
	lease := newLease(ctx, a, t)
	if lease.end() <= a.l.cfg.Clock.Now() {
		lease.cancel(ErrNoQuorum)
		return nil, a.l.noQuorum("acquire", t.votes)
	}
	if !a.l.keeper.add(lease) {
		lease.cancel(ErrClosed)
		return nil, ErrClosed
	}
	a.lease = lease
	return lease, nil
}

// keys are those of the acquire and settle scripts.
func (a *attempt) keys() []string {
	keys := []string{a.l.markerKey(), a.l.doneKey(cmp.Or(a.claim.Record, a.claim.Keys[0]))}
	for _, k := range a.claim.Keys {
		keys = append(keys, a.l.recordKey(k), a.l.waitersKey(k))
	}
	return keys
}

// args are those of the acquire script.
func (a *attempt) args(token int64) []any {
	ask := "ask"
	if a.claim.Record == "" {
		ask = "none"
	}
	return []any{a.nonce, token, micros(a.claim.TTL), ask, a.claim.Waiter, a.visit, micros(a.l.cfg.WaiterTTL)}
}

func (a *attempt) heldError(t *tally) error {
	e := &HeldError{Key: a.claim.Keys[0]}
	for _, v := range t.votes {
		if v.err != nil || v.reply.code != codeHeld {
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
		e.Waited = max(0, time.Duration(a.l.nodeNow()-since)*time.Microsecond)
	}
	return e
}

func (a *attempt) doneError(t *tally) error {
	text, _ := t.record()
	d, err := parseDone(text)
	if err != nil {
		return err
	}
	return &DoneError{Key: a.claim.Record, Record: d.record}
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
