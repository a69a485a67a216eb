package redlock

import (
	"slices"
	"time"
)

// simOrphans is what the observer knows of attempts and tenures that are over.
type simOrphans struct {
	settled map[simPlace]bool        // the node has heard that it is over
	valid   map[string]time.Duration // until when a tenure would have been valid, by its nonce
}

type simPlace struct {
	node  int
	nonce string
}

// end notes that a tenure is over, and how much validity it had left.
func (o *simOrphans) end(nonce string, until time.Duration) {
	if o.valid == nil {
		o.valid = map[string]time.Duration{}
	}
	o.valid[nonce] = until
}

// executed looks at what a node did with one pipeline. Two things must never be the
// end of it: that it holds for somebody whose end it has heard, and that it set a
// grant again whose tenure is not valid any more.
func (w *simWorld) executed(m *simMessage, answers []answer) {
	o, n := &w.orphans, w.nodes[m.node]
	if o.settled == nil {
		o.settled = map[simPlace]bool{}
	}
	var revived []string
	for _, done := range m.done(answers) {
		code, args := done.code, done.args
		nonce, place := args[0], simPlace{m.node, args[0]}
		if done.verb == verbSettle {
			revived = slices.DeleteFunc(revived, func(r string) bool { return r == nonce })
			// A token from too far ahead leaves no floor, and so no trace.
			o.settled[place] = o.settled[place] || parse(args[1]) <= n.clock.micros()+w.cfg.Bound.Microseconds()
			continue
		}
		if code == codeRepaired {
			w.counts.repaired++
		}
		if (code == codeRepaired || code == codeOK) && (o.settled[place] || code == codeRepaired && w.tooLate(nonce)) {
			revived = append(revived, nonce)
		}
	}
	for _, nonce := range revived {
		w.violate(claimOrphans, "node %d holds for %s, which is over", m.node, nonce)
	}
}

// tooLate says that a tenure's validity is over, and that the node must know: a
// clock that stepped back does not.
func (w *simWorld) tooLate(nonce string) bool {
	until, over := w.orphans.valid[nonce]
	return over && w.clocks == clocksSteady && w.now() > until+20*time.Millisecond // for drift
}

// simDone is a request that a node has answered.
type simDone struct {
	modelAsk
	code string
}

// done are those of a message.
func (m *simMessage) done(answers []answer) (all []simDone) {
	for i, cmd := range m.cmds {
		if cmd[0] != "EVALSHA" || len(answers[i].text) < 2 {
			continue
		}
		for j, a := range asksOf(cmd) {
			all = append(all, simDone{a, readReply(answers[i].text[1+j]).code})
		}
	}
	return all
}

// asksOf takes a call apart.
func asksOf(cmd []any) []modelAsk {
	words := make([]string, len(cmd))
	for i, w := range cmd {
		words[i] = word(w)
	}
	keys := 3 + cmd[2].(int)
	return modelAsks(words[4:keys], words[keys:])
}

// forget is for a node that lost what it had heard.
func (o *simOrphans) forget(node int) {
	for place := range o.settled {
		if place.node == node {
			delete(o.settled, place)
		}
	}
}

// empty checks claim 4 when everybody is gone, and nothing is on its way: after a
// TTL, and what the clocks have lost meanwhile, no node holds anything.
func (w *simWorld) empty() {
	for i, n := range w.nodes {
		for key, h := range n.held() {
			w.violate(claimOrphans, "node %d holds %s for %s for another %v", i, key, h.nonce, time.Duration(h.until-n.now)*time.Microsecond)
		}
	}
}
