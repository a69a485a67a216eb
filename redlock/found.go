package redlock

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

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
		return nil // its own sender will tell
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
