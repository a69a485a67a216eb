package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// survey is a node's report, and what it needs besides to be judged.
type survey struct {
	NodeReport
	config error // a ConfigError or an UngatedError
}

// surveys look at all nodes at once, beside their senders.
func (l *Locker) surveys(ctx context.Context) ([]survey, error) {
	type seen struct {
		node int
		survey
	}
	all, looks := make([]survey, len(l.nodes)), make(chan seen, len(l.nodes))
	for i, n := range l.nodes {
		l.work.Go(func() { looks <- seen{i, n.survey()} })
	}
	for range l.nodes {
		select {
		case s := <-looks:
			all[s.node] = s.survey
		case <-ctx.Done():
			return nil, ended(ctx, "check")
		}
	}
	return all, nil
}

func (n *node) survey() survey {
	s := survey{NodeReport: NodeReport{Node: n.name, Replicas: -1}}
	s.Err = n.time(&s.NodeReport)
	if s.Reachable = s.Err == nil; !s.Reachable {
		return s
	}
	a := n.call(n.wire, []any{"INFO", "server"}, []any{"INFO", "replication"}, []any{"INFO", "memory"}, []any{"INFO", "persistence"},
		[]any{"GET", n.l.markerKey()}, []any{"CONFIG", "GET", "save"})
	info := func(i int, field string) string {
		if a[i].err != nil {
			return ""
		}
		return infoField(a[i].text[0], field)
	}
	s.Version, s.Mode, s.RunID = info(0, "redis_version"), info(0, "redis_mode"), info(0, "run_id")
	s.Role, s.Policy, s.Persistence = info(1, "role"), info(2, "maxmemory_policy"), persistence(info(3, "aof_enabled"), a[5])
	if count, err := strconv.Atoi(info(1, "connected_slaves")); err == nil {
		s.Replicas = count
	}
	run, err := n.readRunID(a[0])
	s.Ungated = run == ungated
	switch marker := a[4]; {
	case errors.Is(err, ErrConfig):
		s.config = err
	case marker.err == nil && configOf(marker.text[0]) != n.l.config:
		s.config = n.l.configError(n, marker.text[0])
	}
	if s.config != nil {
		s.Err = s.config
	}
	return s
}

// time reads the node's clock, three times, for the shortest of three round trips:
// the first also connects.
func (n *node) time(r *NodeReport) error {
	for i := range 3 {
		sent := n.l.cfg.Clock.Now()
		a := n.call(n.wire, []any{"TIME"})[0]
		received := n.l.cfg.Clock.Now()
		if a.err != nil {
			return a.err
		}
		if len(a.text) != 2 {
			return fmt.Errorf("redlock: node %s: unexpected answer to TIME: %q", n.name, a.text)
		}
		n.l.clocks.observe(n.at, sent, received, timeOf(a.text))
		if took := received - sent; i == 0 || took < r.RoundTrip {
			r.RoundTrip = took
		}
	}
	return nil
}

// persistence is what a node keeps over a restart. Snapshots show in its
// configuration alone, which managed servers hide.
func persistence(aof string, save answer) string {
	switch {
	case aof == "1":
		return "aof"
	case save.err != nil || len(save.text) != 2:
		return ""
	case strings.TrimSpace(save.text[1]) != "":
		return "rdb"
	case aof == "0":
		return "none"
	}
	return ""
}
