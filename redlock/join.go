package redlock

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Modes of the join script.
const (
	joinLook    = "look"
	joinFound   = "found"
	joinDrain   = "drain"
	joinReplace = "replace"
)

// join makes sure that the script this process calls is that of the node's
// present life, under the fleet's configuration. The script's text contains the
// marker, so its SHA belongs to one life of one server: after a restart, or on
// another server behind the same address, it is unknown, and the marker tells
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
func (n *node) askToJoin(w wire, run, mode string, more ...any) (reply, error) {
	cmd := append([]any{"EVAL", joinText, 1, n.l.markerKey(), run, n.l.config, mode}, more...)
	sent := n.l.cfg.Clock.Now()
	a := n.call(w, cmd)[0]
	received := n.l.cfg.Clock.Now()
	if a.err != nil {
		return reply{}, a.err
	}
	if len(a.text) < 3 {
		return reply{}, fmt.Errorf("redlock: node %s: answer to join without a marker: %q", n.name, a.text)
	}
	r := reply{code: a.text[0], fields: a.text[2:]}
	if r.now, _ = strconv.ParseInt(a.text[1], 10, 64); r.now > 0 {
		n.l.clocks.observe(n.at, sent, received, r.now)
	}
	return r, nil
}

// load loads the script of a life, and asks again who the server is: the answers
// belong together only if it is the same.
func (n *node) load(w wire, l life) (run string, err error) {
	answers := n.call(w, []any{"SCRIPT", "LOAD", l.script.text}, []any{"INFO", "server"})
	if err := answers[0].err; err != nil {
		return "", err
	}
	return n.readRunID(answers[1])
}
