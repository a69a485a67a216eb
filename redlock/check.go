package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Report is what [Locker.Check] saw.
type Report struct {
	Nodes    []NodeReport // in the order of Config.Nodes
	Warnings []Warning
}

// NodeReport is one lock node as it shows itself to this process. What it does not
// tell, for want of permission or because it is no whole Redis, is "".
type NodeReport struct {
	Node      string
	Reachable bool  // it answered
	Joined    bool  // it takes this configuration; false, too, when a fault of another node kept it from being asked
	Err       error // what is against it

	Version     string // such as "7.2.4"
	Mode        string // "standalone", "cluster", "sentinel"
	Role        string // "master", "slave"
	RunID       string
	Policy      string // its maxmemory-policy
	Persistence string // "aof", "rdb", "none"
	Replicas    int    // that are connected; -1 when it does not tell

	Ahead      time.Duration // of the median of the nodes' clocks; less than 0 is behind
	RoundTrip  time.Duration // the shortest of three
	Quarantine time.Duration // until it votes; 0 is now
	Ungated    bool          // its restarts go unnoticed: see Config.Ungated
}

// Warning is what should be otherwise, and need not stop anybody.
type Warning struct {
	Node string // "" when it is about several, or all
	Text string
}

func (w Warning) String() string {
	if w.Node == "" {
		return w.Text
	}
	return "node " + w.Node + ": " + w.Text
}

// NodeError says that a server must not be a lock node as it is. It Is
// [ErrConfig].
type NodeError struct {
	Node       string
	Seen, Want string
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("redlock: node %s: %s; want %s", e.Node, e.Seen, e.Want)
}

// Is reports whether target is [ErrConfig].
func (e *NodeError) Is(target error) bool { return target == ErrConfig }

// Check looks at every node, for use before a process begins its work. The error
// joins all that should stop it: a [NodeError] for each server that must not be a
// lock node as it is (no master, one that another name leads to as well, one that
// evicts keys, older than Redis 7.0, of a cluster), a [ConfigError] or
// [UngatedError] for each node that refuses this configuration, and a
// [NoQuorumError] when a majority cannot be used now. Else, or in addition, it is
// ctx's own, or [ErrClosed]. The report comes with an error, too.
//
// What should be otherwise and can be lived with is in the report's Warnings,
// which the first call that has any also logs. It needs INFO to see most of this,
// and takes CONFIG GET where it is allowed; what it may not see it leaves out.
//
// A node that has no marker yet is given one, once no node shows a fault: what is
// wrong with a new fleet is best found out before its configuration is on the
// nodes.
func (l *Locker) Check(ctx context.Context) (Report, error) {
	if err := l.enter(); err != nil {
		return Report{}, err
	}
	defer l.leave()
	surveys, err := l.surveys(ctx)
	if err != nil {
		return Report{}, err
	}
	faults := l.faults(surveys)
	if len(faults) == 0 {
		if faults, err = l.joinAll(ctx, surveys); err != nil {
			return Report{}, err
		}
	}
	l.compare(surveys)
	r := Report{Warnings: l.warnings(surveys, clockIsSynchronised)}
	for _, s := range surveys {
		r.Nodes = append(r.Nodes, s.NodeReport)
	}
	if len(r.Warnings) > 0 {
		l.warned.Do(func() {
			for _, w := range r.Warnings {
				l.cfg.Logger.WarnContext(ctx, "lock node check", "node", w.Node, "warning", w.Text)
			}
		})
	}
	return r, errors.Join(faults...)
}

// joinAll makes every node join, and says what is against it.
func (l *Locker) joinAll(ctx context.Context, surveys []survey) (faults []error, err error) {
	votes := make([]vote, 0, len(l.nodes))
	answers := l.greet()
	for range l.nodes {
		select {
		case v := <-answers:
			votes = append(votes, v)
		case <-ctx.Done():
			return nil, ended(ctx, "check")
		}
	}
	for _, v := range votes {
		s := &surveys[v.node]
		s.Err, s.Joined = v.err, v.err == nil
		if errors.Is(v.err, ErrConfig) {
			faults = append(faults, v.err)
		}
		if life := l.nodes[v.node].life.Load(); life != nil && v.err == nil {
			s.Ungated = life.ready == 0
			s.Quarantine = max(0, time.Duration(life.ready-v.reply.now)*time.Microsecond)
		}
	}
	if len(votes)-countFailed(votes) < l.need {
		faults = append(faults, l.noQuorum("check", votes))
	}
	return faults, nil
}

// compare finds how far each clock is from the median of them.
func (l *Locker) compare(surveys []survey) {
	known := *l.clocks.known.Load()
	var ahead []time.Duration
	for _, o := range known {
		if o.heard {
			ahead = append(ahead, o.middle())
		}
	}
	slices.Sort(ahead)
	for i, o := range known {
		if o.heard {
			surveys[i].Ahead = o.middle() - ahead[len(ahead)/2]
		}
	}
}
