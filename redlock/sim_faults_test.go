package redlock

import (
	"testing/synctest"
	"time"
)

// fault does something to a node, a link, or everybody.
func (w *simWorld) fault() {
	i := w.rng.IntN(len(w.nodes))
	n := w.nodes[i]
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		w.restart(i, w.loses[w.rng.IntN(len(w.loses))])
	case 3:
		if w.clocks == clocksSteady {
			w.say("node %d: FLUSHALL", i)
			n.flush()
			w.lost(i)
		}
	case 4, 5:
		c := w.rng.IntN(len(w.clients))
		w.say("client %d and node %d are cut apart", c, i)
		n.cut[c] = w.now() + w.microseconds(3_000_000)
	case 6:
		d := w.microseconds(2_000_000)
		w.say("all processes are suspended for %v", d)
		w.jumps.Add(int64(d))
		w.checking.Lock()
		w.resumed = w.timers()
		w.checking.Unlock()
	case 7:
		n.clock.drift(w.rng.IntN(10_001) - 5000)
	default: // most often, where it is allowed at all
		w.stepClock(i)
	}
}

// restart begins another life of a node, which takes a while.
func (w *simWorld) restart(i, lose int) {
	if w.clocks != clocksSteady {
		lose = loseNothing // without records, tokens rest on the clocks
	}
	n := w.nodes[i]
	w.say("node %d restarts, and loses %d", i, lose)
	n.restart(lose)
	n.down = w.now() + w.microseconds(200_000)
	w.counts.restarts++
	if lose != loseNothing {
		w.lost(i)
	}
}

// lost notes that a node lost data.
func (w *simWorld) lost(i int) {
	w.orphans.forget(i)
	w.forgot()
}

// stepClock sets a node's clock, where the world allows it. None goes back by more
// than FenceTTL less Bound, which tokens rest on when records have expired.
func (w *simWorld) stepClock(i int) {
	if w.clocks == clocksSteady || w.clocks == clocksGuarded && w.stepped > 0 {
		return
	}
	most := w.cfg.FenceTTL - w.cfg.Bound
	to := time.Duration(w.rng.Int64N(int64(most)))
	if w.clocks == clocksGuarded { // one, once, and so far that no round trip hides it
		i, to = 0, to/2+most/2
		if w.rng.IntN(2) == 0 {
			to = -to
		}
	}
	n := w.nodes[i]
	by := to - n.stepped
	w.say("node %d: its clock steps by %v", i, by)
	n.clock.step(by)
	n.stepped = to
	w.stepped += max(by, -by)
}

// finish ends the schedule: every caller leaves, the network heals, what is on its
// way arrives in any order, and nothing may be left.
func (w *simWorld) finish() {
	w.loss, w.delay, w.twice, w.faults = 0, 0, 0, 0
	for _, n := range w.nodes {
		n.down = 0
		clear(n.cut)
	}
	for !w.everybodyLeft() {
		w.step()
		w.check()
	}
	for len(w.late) > 0 {
		w.pass(w.microseconds(50_000))
		w.deliver(w.takeFrom(&w.late))
	}
	for end := w.now() + w.cfg.MaxTTL*11/10 + w.stepped; w.now() < end; {
		w.pass(end - w.now())
	}
	w.empty()
}

// everybodyLeft ends who waits for its turn, and says whether all have.
func (w *simWorld) everybodyLeft() bool {
	left := true
	for _, c := range w.clients {
		w.cancel(c)
		synctest.Wait()
		c.mu.Lock()
		idle := c.idle
		c.idle = false
		left = left && c.ended
		c.mu.Unlock()
		if idle {
			c.turns <- false
		}
		synctest.Wait()
	}
	return left
}
