package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ready returns nil as soon as a majority of the nodes has joined, under this
// configuration, and votes. A node that has restarted, or is new, does not vote
// until every lock that it may have forgotten has run out: MaxTTL, which is how
// long the first start of fresh nodes takes. What it waits for is logged once, and
// told by its error when ctx ends, which then Is ctx's own and [ErrNoQuorum].
//
// It returns at once when a wait could not help: with a [ConfigError], or with
// [ErrClosed]. Nobody needs to call it; an acquire before its time fails with the
// same answers.
func (l *Locker) Ready(ctx context.Context) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	patience, cancel := context.WithCancel(ctx) // what also ends with the Locker
	defer cancel()
	stop := context.AfterFunc(l.open, cancel)
	defer stop()
	for try := 0; ; try++ {
		votes, err := l.standings(ctx)
		if err != nil {
			return err
		}
		willing := 0
		for _, v := range votes {
			if v.yes(codeOK) {
				willing++
			}
		}
		if willing >= l.need {
			return nil
		}
		why := l.nobody("ready", votes)
		if errors.Is(why, ErrConfig) {
			return why
		}
		if try == 0 {
			l.cfg.Logger.InfoContext(ctx, "waiting for lock nodes", "why", why)
		}
		pause(patience, soonest(votes))
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ended(ctx, "ready"), why)
		}
		if l.open.Err() != nil {
			return ErrClosed
		}
	}
}

// greet asks every node for the extension of nothing at all. It answers with its
// time, and only in the life that we joined, or join then.
func (l *Locker) greet() <-chan vote {
	votes := make(chan vote, len(l.nodes))
	for _, n := range l.nodes {
		n.send(&request{
			verb: verbExtend, args: []any{"", 0, 0, 0},
			answer: func(v vote, _ bool) { votes <- v },
		})
	}
	return votes
}

// standings asks every node whether it votes: OK or QUARANTINED.
func (l *Locker) standings(ctx context.Context) ([]vote, error) {
	votes := make([]vote, 0, len(l.nodes))
	answers := l.greet()
	for range l.nodes {
		select {
		case v := <-answers:
			if life := l.nodes[v.node].life.Load(); v.err == nil && life != nil && v.reply.now < life.ready {
				v.reply = reply{code: codeQuarantined, now: v.reply.now, fields: []string{number(life.ready)}}
			}
			v.mute = v.err == nil && !l.clocks.votes(v.node, margin(l.cfg.TTL), v.heard)
			votes = append(votes, v)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ended(ctx, "ready"), l.noQuorum("ready", votes))
		}
	}
	return votes, nil
}

// soonest is until the next of the quarantined nodes votes; a second when none is.
func soonest(votes []vote) time.Duration {
	left := time.Second
	for _, v := range votes {
		if v.said(codeQuarantined) {
			left = min(left, time.Duration(v.reply.number(0)-v.reply.now)*time.Microsecond)
		}
	}
	return max(left, 10*time.Millisecond)
}
