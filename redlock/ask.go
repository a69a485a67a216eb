package redlock

import (
	"context"
	"errors"
	"time"
)

// vote is what one node answered to one question.
type vote struct {
	node   int
	token  int64         // that was proposed; 0 for other questions
	sent   time.Duration // before the request left
	heard  time.Duration // after the reply came
	unsent bool          // it never left
	mute   bool          // the node has no vote, for its clock: see clocks
	reply  reply
	err    error
}

// yes reports whether the node answered with code, and its answer counts.
func (v vote) yes(code string) bool { return v.said(code) && !v.mute }

func (v vote) said(code string) bool { return v.err == nil && v.reply.code == code }

// ask puts one question to every node at once, and never blocks on the answers:
// the channel has room for all of them. The question is not bound to any
// caller's context.
func (l *Locker) ask(args ...any) <-chan vote {
	votes := make(chan vote, len(l.nodes))
	requests := make([]request, len(l.nodes))
	for i, n := range l.nodes {
		requests[i] = request{args: args, answer: func(v vote, _ bool) { votes <- v }}
		n.send(&requests[i])
	}
	return votes
}

// collect reads votes until decided says that the rest cannot matter. When all
// have answered and it never did, the error is that of nobody.
func (l *Locker) collect(ctx context.Context, op string, votes <-chan vote, decided func(seen []vote, pending int) bool) error {
	seen := make([]vote, 0, len(l.nodes))
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
	return l.nobody(op, seen)
}

func count(votes []vote, code string) (n int) {
	for _, v := range votes {
		if v.said(code) {
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

// nobody is why no majority decided: what the configuration has against a node, if
// that alone is in the way, since waiting would not help; else a [NoQuorumError].
func (l *Locker) nobody(op string, votes []vote) error {
	var why error
	others := 0
	for _, v := range votes {
		if errors.Is(v.err, ErrConfig) {
			why = v.err
			others++
		}
	}
	if others > len(l.nodes)-l.need {
		return why
	}
	return l.noQuorum(op, votes)
}

func (l *Locker) noQuorum(op string, votes []vote) *NoQuorumError {
	e := &NoQuorumError{Op: op, Need: l.need, Answers: make([]Answer, len(l.nodes))}
	for i, n := range l.nodes {
		e.Answers[i].Node = n.name
	}
	for _, v := range votes {
		a := &e.Answers[v.node]
		a.Code, a.Err, a.Clock = v.reply.code, v.err, v.mute
		if a.Code == codeQuarantined {
			a.Left = time.Duration(v.reply.number(0)-v.reply.now) * time.Microsecond
		}
	}
	return e
}
