package redlock

import (
	"context"
	"slices"
	"testing/synctest"
	"time"
)

// run is the scheduler.
func (w *simWorld) run() {
	for range w.simSetting.steps {
		w.step()
		w.check()
	}
	w.finish()
}

// pass lets time pass, until a client has something to say.
func (w *simWorld) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.kick:
	}
	synctest.Wait()
}

func (w *simWorld) microseconds(n int) time.Duration {
	return time.Duration(1+w.rng.IntN(n)) * time.Microsecond
}

// step lets one thing happen.
func (w *simWorld) step() {
	w.steps.Add(1)
	w.pass(w.microseconds(3000))
	quit := w.gather()
	for _, m := range quit {
		w.giveUp(m)
		synctest.Wait()
	}
	w.impatient()
	roll, turn := w.rng.IntN(1000), w.next()
	switch {
	case roll < w.faults:
		w.fault()
	case roll < 50 && len(w.late) > 0:
		w.deliver(w.takeFrom(&w.late))
	case turn != nil && (roll < 300 || len(w.moving) == 0):
		w.turn(turn)
	case len(w.moving) > 0:
		w.carry(w.takeFrom(&w.moving))
	default:
		w.pass(w.microseconds(300_000))
	}
	synctest.Wait()
}

// giveUp lets a caller go whose deadline has passed. Its request may arrive all
// the same.
func (w *simWorld) giveUp(m *simMessage) {
	if m.left {
		return
	}
	w.say("client %d gives up on node %d", m.life.client, m.node)
	m.reply(m.failed(context.DeadlineExceeded))
	if i := slices.Index(w.moving, m); i >= 0 {
		w.moving = slices.Delete(w.moving, i, i+1)
		if m.answers == nil && w.rng.IntN(2) == 0 {
			w.late = append(w.late, m)
		}
	}
}

// takeFrom removes a message: mostly the oldest.
func (w *simWorld) takeFrom(from *[]*simMessage) *simMessage {
	i := 0
	if w.rng.IntN(3) == 0 {
		i = w.rng.IntN(len(*from))
	}
	m := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	return m
}

// carry moves a message on, or does to it what networks do.
func (w *simWorld) carry(m *simMessage) {
	n, roll := w.nodes[m.node], w.rng.IntN(100)
	switch {
	case w.now() < n.down, w.now() < n.cut[m.life.client]:
		w.drop(m, w.rng.IntN(3))
	case roll < w.loss:
		w.drop(m, w.rng.IntN(2))
	case m.answers != nil:
		w.say("client %d hears node %d: %s", m.life.client, m.node, replies(m.answers))
		m.reply(m.answers)
	case roll < w.loss+w.delay:
		w.say("client %d to node %d: delayed", m.life.client, m.node)
		w.late = append(w.late, m)
	default:
		if roll < w.loss+w.delay+w.twice {
			twin := *m
			twin.back, twin.left = nil, true
			w.late = append(w.late, &twin)
		}
		w.deliver(m)
	}
}

// drop loses a message. Its sender may notice at once.
func (w *simWorld) drop(m *simMessage, how int) {
	w.say("client %d and node %d: lost (%d)", m.life.client, m.node, how)
	switch {
	case how == 1:
		m.reply(m.failed(errSimReset))
	case how == 2 && m.answers == nil:
		m.reply(m.failed(errSimRefused))
	}
}

// deliver hands a request to its node, and sends the reply on its way.
func (w *simWorld) deliver(m *simMessage) {
	n := w.nodes[m.node]
	if w.now() < n.down {
		return
	}
	if m.server != 0 && m.server != n.life() {
		w.drop(m, 1)
		return
	}
	answers := n.pipeline(m.cmds)
	w.say("node %d hears client %d: %s: %v", m.node, m.life.client, brief(m.cmds), replies(answers))
	w.executed(m, answers)
	if !m.left {
		m.answers = answers
		w.moving = append(w.moving, m)
	}
}

// next is the client whose turn it is; nil: nobody's.
func (w *simWorld) next() (turn *simClient) {
	now := w.now()
	for _, c := range w.clients {
		c.mu.Lock()
		if c.idle && now >= c.due && (turn == nil || c.due < turn.due) {
			turn = c
		}
		c.mu.Unlock()
	}
	return turn
}

func (w *simWorld) turn(c *simClient) {
	c.mu.Lock()
	c.idle = false
	c.mu.Unlock()
	c.turns <- true
}

// cancel ends the context of a call, if one is under way.
func (w *simWorld) cancel(c *simClient) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idle && c.cancel != nil {
		w.say("client %d: its caller has gone", c.id)
		c.cancel()
		c.cancel = nil
	}
}

// impatient ends the calls that took longer than their callers wait.
func (w *simWorld) impatient() {
	for _, c := range w.clients {
		c.mu.Lock()
		over := w.now() >= c.patience
		c.mu.Unlock()
		if over {
			w.cancel(c)
			synctest.Wait()
		}
	}
}
