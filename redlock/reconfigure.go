package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Reconfigure is the operator's verb for a change of what a fleet agrees on: the
// names of the nodes, MaxTTL, Bound and FenceTTL. It puts cfg on all of its nodes:
//
//  1. Every node that carries another configuration is drained: it refuses
//     everybody, with a [ConfigError]. Leases under the old configuration are
//     extended no more, and run out.
//  2. When the longest of them must have ended on every node (the old MaxTTL and a
//     margin), the nodes get the new configuration, and vote after its MaxTTL.
//
// No lock is to be had meanwhile. Start processes with cfg when it has returned.
// Nodes that leave the set are given as leaving: they are drained, and stay so.
// Without a majority of the old set among all of these it changes nothing, since
// the rest could go on as before.
//
// nil means that every node carries cfg, or is new; at once, if they did before. A
// [LeftOutError] means that a majority does, and names the others: say it again
// when they are back. Interrupted, by ctx or otherwise, it leaves nodes that refuse
// everybody: said again, with the same or another cfg, it goes on where it was. Two
// operators who change a fleet to different ends at once may each get some of the
// nodes: who does not get all gets a [ConfigError], and one of them must say it
// again. Other errors are [NoQuorumError], [UngatedError], a field error for a
// bad cfg, and ctx's own.
//
// It logs what it does to Config.Logger.
func Reconfigure(ctx context.Context, cfg Config, leaving ...Node) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	for i, n := range leaving {
		if n.err != nil || n.Options == nil || !isName(n.name()) {
			return bad(fmt.Sprintf("leaving[%d]", i), n.source, "a node with an address and a name")
		}
	}
	return reconfigure(ctx, cfg, leaving)
}

func reconfigure(ctx context.Context, cfg Config, leaving []Node) (err error) {
	all := cfg
	all.Nodes = slices.Concat(cfg.Nodes, leaving)
	l, err := build(all)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	l.config, l.need = configText(cfg), len(cfg.Nodes)/2+1
	c := &change{Locker: l, staying: len(cfg.Nodes)}
	for {
		if err := c.drain(ctx); err != nil {
			return err
		}
		left := c.left()
		if left <= 0 {
			return c.replace(ctx)
		}
		c.cfg.Logger.InfoContext(ctx, "waiting until the locks of the old configuration have run out", "left", left)
		if pause(ctx, left); ctx.Err() != nil {
			return fmt.Errorf("%w: drained nodes refuse everybody until it is said again", ended(ctx, "reconfigure"))
		}
	}
}

// change is a reconfiguration under way.
type change struct {
	*Locker
	staying int // the nodes of the new set come first; the others leave
	seen    []standing
	before  []string // the configurations that it began with
}

// standing is what a node carries.
type standing struct {
	err    error  // it did not say
	run    string // its run ID
	marker string // "" on a new one
	old    string // the configuration, without what says that it is drained; "" when it is ours, or none
	began  int64  // when draining did
	now    int64
}

// drain looks at all nodes, and drains those that carry another configuration, if
// they are enough.
func (c *change) drain(ctx context.Context) error {
	first := c.seen == nil
	c.each(func(n *node, s *standing) { *s = n.carries() })
	if err := c.enough(); err != nil {
		return err
	}
	for i, s := range c.seen {
		if first && s.err == nil && s.old != "" {
			c.before = append(c.before, s.old)
			c.cfg.Logger.InfoContext(ctx, "draining a lock node", "node", c.nodes[i].name, "old", s.old, "new", c.config)
		}
	}
	c.each(func(n *node, s *standing) {
		if s.err != nil || s.old == "" || !slices.Contains(c.before, s.old) {
			return
		}
		r, err := n.askToJoin(n.wire, s.run, joinDrain)
		switch {
		case err != nil:
			s.err = err
		case r.code != codeDraining: // it lost its marker meanwhile, or is ours
			*s = standing{run: s.run, marker: r.fields[0], now: r.now}
		default:
			s.marker, s.old, s.began, s.now = r.fields[0], drained(r.fields[0]), r.number(1), r.now
		}
	})
	var others []error
	for i, s := range c.seen {
		if s.err == nil && s.old != "" && !slices.Contains(c.before, s.old) {
			others = append(others, c.configError(c.nodes[i], s.marker))
		}
	}
	if len(others) > 0 {
		return contested(others)
	}
	return c.enough() // still
}

func contested(others []error) error {
	return fmt.Errorf("redlock: reconfigure: another operator was there meanwhile, say it again if yours is right: %w", errors.Join(others...))
}

// each does something to every node, all at once.
func (c *change) each(do func(*node, *standing)) {
	if c.seen == nil {
		c.seen = make([]standing, len(c.nodes))
	}
	var all sync.WaitGroup
	for i, n := range c.nodes {
		all.Go(func() { do(n, &c.seen[i]) })
	}
	all.Wait()
}

func (n *node) carries() standing {
	run, err := n.runID(n.wire)
	if err != nil {
		return standing{err: err}
	}
	r, err := n.askToJoin(n.wire, run, joinLook)
	if err != nil {
		return standing{err: err}
	}
	s := standing{run: run, marker: r.fields[0], now: r.now}
	if r.code == codeConfig {
		s.old = drained(s.marker)
	}
	return s
}

// left is until the last lease under an old configuration must have ended, by each
// node's own clock.
func (c *change) left() (left time.Duration) {
	for _, s := range c.seen {
		if s.err == nil && s.old != "" {
			most := maxTTLOf(s.old)
			left = max(left, most+margin(most)-time.Duration(s.now-s.began)*time.Microsecond)
		}
	}
	return left
}

// replace puts the new configuration on the drained nodes, unless another operator
// was there before. What it finds new stays so: the first process will found it.
func (c *change) replace(ctx context.Context) error {
	others := make([]error, len(c.nodes))
	c.each(func(n *node, s *standing) {
		if s.err != nil || s.old == "" || n.at >= c.staying {
			return
		}
		r, err := n.askToJoin(n.wire, s.run, joinReplace, s.marker)
		switch {
		case err != nil:
			s.err = err
		case r.code == codeJoined:
			c.cfg.Logger.InfoContext(ctx, "a lock node has the new configuration", "node", n.name, "config", c.config)
		default:
			others[n.at] = c.configError(n, r.fields[0])
		}
	})
	if errors.Join(others...) != nil {
		return contested(others)
	}
	return c.leftOut(ctx)
}
