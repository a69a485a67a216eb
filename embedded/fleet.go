package embedded

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// ErrClosed is returned by [Fleet.RestartNode] after [Fleet.Close].
var ErrClosed = errors.New("embedded: fleet is closed")

// Fleet is one queue Redis and a set of lock nodes. The one who started it
// closes it. It is safe for concurrent use.
type Fleet struct {
	mu     sync.Mutex // held while nodes start and stop, so that Close is final
	closed bool
	queue  *node
	locks  []*node
	stop   chan struct{} // closed by Close
	aging  sync.WaitGroup
}

// Start starts a queue Redis and as many lock nodes as nodes says: 1, 3, 5 or
// 7, since an even number survives no more failures than the odd one below it.
// All of them answer before Start returns.
func Start(nodes int) (*Fleet, error) {
	if !slices.Contains([]int{1, 3, 5, 7}, nodes) {
		return nil, fmt.Errorf("embedded: nodes: %d is not accepted: want 1, 3, 5 or 7", nodes)
	}
	f := &Fleet{queue: newNode(), locks: make([]*node, nodes), stop: make(chan struct{})}
	for i := range f.locks {
		f.locks[i] = newNode()
	}
	for _, n := range f.all() {
		if err := n.start(); err != nil {
			_ = f.Close() // never fails; it stops the nodes that did start
			return nil, err
		}
	}
	f.aging.Go(func() { age(f.stop, f.all()...) })
	return f, nil
}

// Queue returns the URL of the queue Redis, "redis://127.0.0.1:PORT".
func (f *Fleet) Queue() string { return f.queue.url() }

// MakeRedisClient returns a new client of the queue Redis, for the caller to
// close. With it a Fleet is what asynq calls a RedisConnOpt, and stands where a
// configuration asks for the queue's Redis.
func (f *Fleet) MakeRedisClient() any {
	return redis.NewClient(&redis.Options{Addr: f.queue.addr})
}

// Locks returns the URLs of the lock nodes, "redis://127.0.0.1:PORT" each, in
// the order that StopNode and RestartNode count in. The slice is the caller's.
func (f *Fleet) Locks() []string {
	urls := make([]string, len(f.locks))
	for i, n := range f.locks {
		urls[i] = n.url()
	}
	return urls
}

// StopNode stops lock node i, counted from 0, as a crash would: its connections
// break and new ones are refused. A stopped node stays stopped. It panics if
// there is no node i.
func (f *Fleet) StopNode(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locks[i].stop()
}

// RestartNode starts lock node i again, on the same port and with the data it
// had: keys whose TTL ran out meanwhile are gone, scripts are still loaded. A
// real node may come back without any of it. A running node is left alone. It
// fails if another process has taken the port meanwhile, and with [ErrClosed];
// it panics if there is no node i.
func (f *Fleet) RestartNode(i int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.locks[i]
	if f.closed {
		return ErrClosed
	}
	return n.start()
}

// Close stops every server and waits for its connections to end; the data is
// gone. Further calls do nothing. The error is always nil.
func (f *Fleet) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.stop)
		f.aging.Wait()
	}
	for _, n := range f.all() {
		n.stop()
	}
	return nil
}

func (f *Fleet) all() []*node { return append([]*node{f.queue}, f.locks...) }
