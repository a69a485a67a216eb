package redlock

import (
	"context"
	"time"
)

// vote is what one node answered to one question.
type vote struct {
	node  int
	token int64         // that was proposed; 0 for other questions
	sent  time.Duration // before the request left
	reply reply
	err   error
}

// ask puts one question to every node at once, and never blocks on the answers:
// the channel has room for all of them. The question is not bound to any
// caller's context: an answer that nobody waits for still tells what a node did.
func (l *Locker) ask(question func(context.Context, *node) (reply, error)) <-chan vote {
	votes := make(chan vote, len(l.nodes))
	for i, n := range l.nodes {
		l.work.Go(func() {
			v := vote{node: i, sent: l.cfg.Clock.Now()}
			v.reply, v.err = question(l.calls, n)
			votes <- v
		})
	}
	return votes
}

// collect reads votes until decided says that the rest cannot matter. It returns
// a [NoQuorumError] when all have answered and it never did.
func (l *Locker) collect(ctx context.Context, op string, votes <-chan vote, decided func(seen []vote, pending int) bool) error {
	var seen []vote
	for pending := len(l.nodes); pending > 0; {
		select {
		case v := <-votes:
			pending--
			seen = append(seen, v)
			if decided(seen, pending) {
				return nil
			}
		case <-ctx.Done():
			return ended(ctx, op)
		}
	}
	return l.noQuorum(op, seen)
}

func count(votes []vote, code string) (n int) {
	for _, v := range votes {
		if v.err == nil && v.reply.code == code {
			n++
		}
	}
	return n
}

func countFailed(votes []vote) (n int) {
	for _, v := range votes {
		if v.err != nil {
			n++
		}
	}
	return n
}

func (l *Locker) noQuorum(op string, votes []vote) *NoQuorumError {
	e := &NoQuorumError{Op: op, Need: l.need, Answers: make([]Answer, len(l.nodes))}
	for i, n := range l.nodes {
		e.Answers[i].Node = n.name
	}
	for _, v := range votes {
		e.Answers[v.node].Code, e.Answers[v.node].Err = v.reply.code, v.err
	}
	return e
}
