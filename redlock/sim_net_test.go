package redlock

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// simNet is the network between the clients and the nodes. Nothing moves on it but
// by the hand of the scheduler, which is what makes a schedule replay: clients only
// leave messages here, and sleep.
type simNet struct {
	kick chan struct{} // a client has left something

	mu     sync.Mutex
	posted []*simMessage // since the scheduler looked last
	quit   []*simMessage // whose callers want to give up
	direct func(m *simMessage) []answer

	serves func(node int) int // the life of the node's process
	moving []*simMessage      // the scheduler's: requests and replies on their way
	late   []*simMessage      // the scheduler's: requests that will be late, or come twice
}

// simMessage is one pipeline: a request, and its reply once it arrived.
type simMessage struct {
	life    *simLife
	node    int
	number  int // among those of its wire
	server  int // the life of the node that its connection leads to; 0: any
	cmds    [][]any
	answers []answer      // of the node; nil before it arrived there
	back    chan []answer // to the caller, once; nil of a duplicate
	left    bool          // nobody waits for it any more
}

// simLife is one life of a client process.
type simLife struct {
	client int
	number int
	dead   chan struct{}
}

var errSimReset = &net.OpError{Op: "read", Net: "sim", Err: errors.New("connection reset by peer")}

var errSimRefused = &net.OpError{Op: "dial", Net: "sim", Err: errors.New("connection refused")}

// simWire is one client's way to one node.
type simWire struct {
	net    *simNet
	life   *simLife
	node   int
	sent   *int
	server int // 0: connections come and go
}

// pipeline posts the request and waits for its reply. When ctx ends, it says so
// and waits on: of several callers whose time is over at one instant the scheduler
// lets one go at a time.
func (w simWire) pipeline(ctx context.Context, cmds [][]any) []answer {
	m := &simMessage{life: w.life, node: w.node, server: w.server, cmds: cmds, back: make(chan []answer, 1)}
	if err := ctx.Err(); err != nil { // a client that closes is not heard of
		return m.failed(err)
	}
	if answers, over := w.net.post(m, w.sent); over {
		return answers
	}
	select {
	case answers := <-m.back:
		return answers
	case <-w.life.dead:
		return m.failed(errSimReset)
	case <-ctx.Done():
	}
	w.net.mu.Lock()
	w.net.quit = append(w.net.quit, m)
	w.net.mu.Unlock()
	w.net.wake()
	select {
	case answers := <-m.back:
		return answers
	case <-w.life.dead:
		return m.failed(errSimReset)
	}
}

// post leaves a message for the scheduler. Before a schedule begins, and after the
// life of its process, there is no waiting.
func (n *simNet) post(m *simMessage, sent *int) (answers []answer, over bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-m.life.dead:
		return m.failed(errSimReset), true
	default:
	}
	*sent++
	m.number = *sent
	if n.direct != nil {
		return n.direct(m), true
	}
	n.posted = append(n.posted, m)
	n.wake()
	return nil, false
}

func (n *simNet) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// gather takes over what clients left, in an order that does not depend on who of
// them ran first.
func (n *simNet) gather() (quit []*simMessage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.kick:
	default:
	}
	slices.SortFunc(n.posted, (*simMessage).compare)
	n.moving = append(n.moving, n.posted...)
	quit, n.posted, n.quit = n.quit, nil, nil
	slices.SortFunc(quit, (*simMessage).compare)
	return quit
}

// compare orders messages by node, client, and what its wire sent first. Two
// goroutines of one client may use one wire at one instant: to join, and to look at
// another node's configuration. Their commands differ.
func (m *simMessage) compare(o *simMessage) int {
	return cmp.Or(
		cmp.Compare(m.node, o.node),
		cmp.Compare(m.life.client, o.life.client),
		cmp.Compare(word(m.cmds[0][0]), word(o.cmds[0][0])),
		cmp.Compare(m.number, o.number),
	)
}

func (m *simMessage) failed(err error) []answer {
	answers := make([]answer, len(m.cmds))
	for i := range answers {
		answers[i].err = err
	}
	return answers
}

// reply hands answers to the caller, if one is left.
func (m *simMessage) reply(answers []answer) {
	if m.back != nil && !m.left {
		m.back <- answers
	}
	m.left = true
}

// pin is one connection: it does not outlive the server's process.
func (w simWire) pin() wire {
	w.server = w.net.serves(w.node)
	return w
}

func (w simWire) close() error { return nil }

func (w simWire) subscribe(context.Context) subscription {
	return simSilence{make(chan *redis.Message)}
}

// simSilence is a subscription that hears nothing: a wake is only a hint.
type simSilence struct{ heard chan *redis.Message }

func (s simSilence) Channel(...redis.ChannelOption) <-chan *redis.Message { return s.heard }
func (simSilence) Subscribe(context.Context, ...string) error             { return nil }
func (simSilence) Unsubscribe(context.Context, ...string) error           { return nil }

func (s simSilence) Close() error {
	close(s.heard)
	return nil
}
