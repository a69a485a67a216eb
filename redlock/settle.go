package redlock

import (
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
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

// settled is what one node said to a settlement. A node that fails speaks twice:
// once at its first failure, and in the end.
type settled struct {
	vote
	final bool
}

// abandon undoes what a failed attempt may have left on the nodes, and does not
// wait for it. A node that refused all it was asked has nothing of ours and is
// left alone.
func (a *attempt) abandon() {
	for i := range a.l.nodes {
		a.l.work.Go(func() {
			a.inflight[i].Wait()
			if a.touched(i) {
				a.settleOn(i, settlement{mode: modeAbandon}, func(settled) {})
			}
		})
	}
}

func (a *attempt) touched(i int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trace[i]
}

// leftNothing says that a failed acquire wrote nothing: it was never sent, or
// Redis refused it, which it does before the script's first write.
func leftNothing(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, refused := errors.AsType[redis.Error](err)
	return refused
}

// settle tells all nodes. There is room for all they say.
func (a *attempt) settle(s settlement) <-chan settled {
	said := make(chan settled, 2*len(a.l.nodes))
	for i := range a.l.nodes {
		a.l.work.Go(func() {
			a.inflight[i].Wait() // never overtake a late acquire of ours
			a.settleOn(i, s, func(v settled) { said <- v })
		})
	}
	return said
}

// settleOn tells one node, again and again until it answers or the TTL has
// passed: by then the grant has run out on its own.
func (a *attempt) settleOn(i int, s settlement, said func(settled)) {
	l, n := a.l, a.l.nodes[i]
	keys := a.keys()
	args := []any{a.nonce, a.highest, s.mode, s.done, millis(s.retention), a.claim.Waiter}
	for _, k := range a.claim.Keys {
		args = append(args, l.channel(k))
	}
	until := l.cfg.Clock.Now() + a.claim.TTL
	for try := 1; ; try++ {
		v := vote{node: i, sent: l.cfg.Clock.Now()}
		v.reply, v.err = n.run(l.calls, l.scripts.settle, keys, args...)
		final := v.err == nil || l.cfg.Clock.Now() >= until
		if final || try == 1 {
			said(settled{vote: v, final: final})
		}
		if final {
			return
		}
		pause(l.calls, min(a.claim.TTL/4, max(0, until-l.cfg.Clock.Now())))
	}
}
