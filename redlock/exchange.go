package redlock

import (
	"context"
	"errors"
	"slices"
	"strconv"

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
		v := vote{node: n.at, sent: sent, heard: received, err: answers[i].err}
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
	case errors.Is(a.err, redis.Nil):
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
