package redlock

import "time"

// proposal is what is asked of all nodes.
type proposal struct {
	seen  int64  // the highest token heard of
	done  string // what a completion record is to them
	again bool   // the last token once more
}

// What the acquire script is told about completion records.
const (
	doneAsk   = "ask"   // answer with one
	doneAdopt = "adopt" // grant all the same, and answer with it
	doneNone  = "none"  // the claim has none
)

// propose sends one token to every node. One that is said again to nodes that did
// not answer has another full timeout.
func (a *attempt) propose(p proposal) *tally {
	l := a.l
	a.mu.Lock()
	token := a.highest
	if !p.again {
		if a.highest > 0 {
			a.since = l.cfg.Clock.Now()
		}
		token = l.propose(l.clocks.nodesAt(a.since), p.seen)
	}
	since := a.since
	t := &tally{nodes: len(l.nodes), need: l.need, token: token}
	a.tally, a.told, a.highest = t, false, max(a.highest, token)
	for i := range a.pending {
		a.pending[i]++
	}
	a.mu.Unlock()
	args := []any{a.nonce, token, micros(a.claim.TTL)}
	if a.full {
		args = append(args, p.done, a.claim.Waiter, a.visit, micros(l.cfg.WaiterTTL))
	}
	answer := func(v vote, final bool) {
		if !final && !v.unsent && !leftNothing(v.err) {
			a.reached(v.node)
		}
		if final {
			v.token = token
			if p.again { // who had granted it says so again, and its grant is no younger
				v.sent = since
			}
			a.deliver(v)
		}
	}
	requests := make([]request, len(l.nodes))
	for i, n := range l.nodes {
		r := &requests[i]
		*r = request{verb: verbAcquire, held: len(a.claim.Keys), keys: a.keys, args: args, answer: answer}
		if p.again {
			r.until = l.cfg.Clock.Now() + l.cfg.NodeTimeout
			r.pause = 10 * time.Millisecond
			r.unless = func() bool { return !a.open() }
		}
		n.send(r)
	}
	return t
}
