package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Modes of the join script.
const (
	joinLook    = "look"
	joinFound   = "found"
	joinDrain   = "drain"
	joinReplace = "replace"
)

// join makes sure that the scripts this process calls are those of the node's
// present life, under the fleet's configuration. The scripts' text contains the
// marker, so their SHAs belong to one life of one server: after a restart, or on
// another server behind the same address, they are unknown, and the marker tells
// whether the node may have forgotten locks. It runs on the sender.
func (n *node) join() error {
	if n.life.Load() != nil {
		return nil
	}
	conn := n.wire.pin()
	defer func() { _ = conn.close() }()
	// A node that restarts again and again in the middle of this is down.
	const tries = 3
	for range tries {
		run, err := n.runID(conn)
		if err != nil {
			return err
		}
		marker, err := n.marker(conn, run)
		if err != nil {
			return err
		}
		life, err := newLife(marker, n.l.cfg)
		if err != nil {
			return err
		}
		again, err := n.load(conn, life)
		if err != nil {
			return err
		}
		if again == run {
			n.life.Store(&life)
			n.mu.Lock()
			n.down = nil
			n.mu.Unlock()
			return nil
		}
	}
	return fmt.Errorf("redlock: node %s: another server at each look", n.name)
}

// call is one round trip with a deadline of its own.
func (n *node) call(w wire, cmds ...[]any) []answer {
	ctx, cancel := context.WithTimeout(n.l.calls, n.l.cfg.NodeTimeout)
	defer cancel()
	return w.pipeline(ctx, cmds)
}

// runID asks who the server is. It is the constant ungated for one that cannot
// tell, if the configuration lets such a node in.
func (n *node) runID(w wire) (string, error) {
	a := n.call(w, []any{"INFO", "server"})[0]
	return n.readRunID(a)
}

func (n *node) readRunID(a answer) (string, error) {
	if a.err == nil {
		if run := infoField(a.text[0], "run_id"); run != "" {
			return run, nil
		}
	} else if !answered(a.err) || redis.HasErrorPrefix(a.err, "LOADING") {
		return "", a.err
	}
	if n.l.cfg.Ungated {
		return ungated, nil
	}
	return "", &UngatedError{Node: n.name, Err: a.err}
}

// infoField finds a field in the reply to INFO.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// marker returns the node's marker, if it is one of this life and configuration. A
// node without one is founded first.
func (n *node) marker(w wire, run string) (string, error) {
	r, err := n.askToJoin(w, run, joinLook)
	if err == nil && r.code == codeFresh {
		if err = n.l.found(n); err == nil {
			r, err = n.askToJoin(w, run, joinFound)
		}
	}
	switch {
	case err != nil:
		return "", err
	case r.code == codeConfig:
		return "", n.l.configError(n, r.fields[0])
	case r.code != codeJoined:
		return "", fmt.Errorf("redlock: node %s: unexpected answer to join: %s", n.name, r.code)
	}
	return r.fields[0], nil
}

// askToJoin runs the join script, by its text: it has no marker in it, and any
// life of any node may run it.
func (n *node) askToJoin(w wire, run, mode string) (reply, error) {
	sent := n.l.cfg.Clock.Now()
	a := n.call(w, []any{"EVAL", joinText, 1, n.l.markerKey(), run, n.l.config, mode})[0]
	received := n.l.cfg.Clock.Now()
	if a.err != nil {
		return reply{}, a.err
	}
	r, err := readReply(n.name, a.text)
	if err == nil && r.now > 0 {
		n.l.clocks.observe(n.at, sent, received, r.now)
	}
	if err == nil && len(r.fields) == 0 {
		err = fmt.Errorf("redlock: node %s: answer to join without a marker: %q", n.name, a.text)
	}
	return r, err
}

// load loads the scripts of a life, and asks again who the server is: the answers
// belong together only if it is the same.
func (n *node) load(w wire, l life) (run string, err error) {
	answers := n.call(w,
		[]any{"SCRIPT", "LOAD", l.acquire.text}, []any{"SCRIPT", "LOAD", l.extend.text}, []any{"SCRIPT", "LOAD", l.settle.text},
		[]any{"INFO", "server"})
	for _, a := range answers[:3] {
		if a.err != nil {
			return "", a.err
		}
	}
	return n.readRunID(answers[3])
}

// found allows a fresh node to be given our configuration. Two fleets that start
// with different ones must not lock each other out, each with a minority of
// nodes: so it takes a majority of answers none of which shows another
// configuration, and whoever founds several nodes founds them in the order of
// their names. The first node decides who goes on.
func (l *Locker) found(n *node) error {
	l.founding <- struct{}{}
	defer func() { <-l.founding }()
	seen := make([]vote, len(l.nodes))
	var looks sync.WaitGroup
	for i, o := range l.nodes {
		looks.Go(func() {
			a := o.call(o.wire, []any{"GET", l.markerKey()})[0]
			seen[i] = vote{node: i, reply: reply{fields: a.text}, err: a.err}
			if errors.Is(a.err, redis.Nil) {
				seen[i] = vote{node: i}
			}
		})
	}
	looks.Wait()
	for i, v := range seen {
		if v.err == nil && len(v.reply.fields) > 0 && configOf(v.reply.fields[0]) != l.config {
			return l.configError(l.nodes[i], v.reply.fields[0])
		}
	}
	if len(seen)-countFailed(seen) < l.need {
		return l.noQuorum("join", seen)
	}
	earlier := slices.Clone(l.nodes)
	slices.SortFunc(earlier, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, o := range earlier {
		if o == n {
			break
		}
		if v := seen[o.at]; v.err == nil && len(v.reply.fields) == 0 {
			if err := l.foundFirst(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// foundFirst gives a fresh node that comes before another its marker. One that
// fails meanwhile decides nothing.
func (l *Locker) foundFirst(o *node) error {
	conn := o.wire.pin()
	defer func() { _ = conn.close() }()
	run, err := o.runID(conn)
	if err != nil {
		return nil //nolint:nilerr // its own sender will tell
	}
	if r, err := o.askToJoin(conn, run, joinFound); err == nil && r.code == codeConfig {
		return l.configError(o, r.fields[0])
	}
	return nil
}

// configOf is what a marker says after run_id and boot.
func configOf(marker string) string {
	parts := strings.SplitN(marker, ":", 3)
	return parts[len(parts)-1]
}

func (l *Locker) configError(n *node, marker string) error {
	return &ConfigError{Node: n.name, Theirs: configOf(marker), Ours: l.config}
}
