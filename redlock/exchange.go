package redlock

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

// exchange sends a batch in one pipeline and hands out the answers. What meets a
// node that has forgotten its scripts, or that says that this is another life of
// it, is sent again once after joining; the rest of the batch is not. It reports
// whether the node answers.
func (n *node) exchange(batch []*request, joined bool) (ok bool) {
	batch = slices.DeleteFunc(batch, func(r *request) bool {
		drop := r.unless != nil && r.unless()
		if drop {
			r.answer(vote{node: n.at, unsent: true}, true)
		}
		return drop
	})
	if len(batch) == 0 {
		return true
	}
	votes := n.pipeline(batch)
	var again []*request
	forgotten := func(v vote) bool {
		return !joined && (v.said(codeRejoin) || redis.HasErrorPrefix(v.err, "NOSCRIPT"))
	}
	broken := brokenBy(votes)
	n.lose(broken) // first: who hears of it may send again at once
	for i, r := range batch {
		if forgotten(votes[i]) {
			again = append(again, r)
		} else {
			n.handOut(r, votes[i])
		}
	}
	if broken == nil && len(again) > 0 {
		n.life.Store(nil)
		if broken = n.join(); broken == nil {
			return n.exchange(again, true)
		}
		n.lose(broken)
	}
	for _, r := range again {
		n.handOut(r, vote{node: n.at, heard: n.l.cfg.Clock.Now(), err: broken})
	}
	if broken != nil {
		n.fail(broken)
	}
	return broken == nil
}

// brokenBy is why the node does not answer, if it does not.
func brokenBy(votes []vote) error {
	for _, v := range votes {
		if v.err != nil && !answered(v.err) {
			return v.err
		}
	}
	return nil
}

// lose notes that the node is down, if there is a reason.
func (n *node) lose(why error) {
	if why == nil {
		return
	}
	n.life.Store(nil)
	n.mu.Lock()
	n.down = why
	n.mu.Unlock()
}

// handOut hands an outcome out, and keeps what is to be said again.
func (n *node) handOut(r *request, v vote) {
	if v.err == nil || !r.kept(v.heard) {
		r.answer(v, true)
		return
	}
	r.answer(v, false)
	now := n.l.cfg.Clock.Now()
	r.due = now
	if answered(v.err) { // it answers, and would say the same at once
		r.due = min(now+r.pause, r.until)
	}
	n.mu.Lock()
	n.waiting = append(n.waiting, r)
	n.mu.Unlock()
}

// answered says that Redis itself gave the error: it did answer.
func answered(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// pipeline makes one round trip, and learns the node's clock from it.
func (n *node) pipeline(batch []*request) []vote {
	cmds, shares := pack(batch, n.l.markerKey(), n.life.Load().script.sha)
	ctx, cancel := context.WithTimeout(n.l.calls, n.l.cfg.NodeTimeout)
	defer cancel()
	sent := n.l.cfg.Clock.Now()
	answers := n.wire.pipeline(ctx, cmds)
	received := n.l.cfg.Clock.Now()
	votes := make([]vote, len(batch))
	for i := range votes {
		votes[i] = vote{node: n.at, sent: sent, heard: received}
	}
	first, last, at := int64(0), int64(0), 0
	for i, share := range shares {
		now := n.unpack(batch[at:at+share], answers[i], votes[at:at+share])
		if first == 0 {
			first = now
		}
		last = max(last, now)
		at += share
	}
	// Of the readings of one batch these two bound the clock most.
	for _, at := range []int64{first, last} {
		if at > 0 {
			n.l.clocks.observe(n.at, sent, received, at)
		}
	}
	return votes
}
