package redlock

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// wakes hears of releases and wakes who waits for the keys: one subscriber per
// node, from the first waiter on, however many wait. A wake is a hint: waiters
// poll anyway, so a missed one costs time and nothing else.
type wakes struct {
	l *Locker

	mu      sync.Mutex
	queues  map[string]*queue // by channel
	changed []chan struct{}   // per node: the channels changed
	started bool
	stop    chan struct{}
	loops   sync.WaitGroup
}

// queue is who waits for one key, first come first.
type queue struct {
	waiters []*waiter
	token   int64                  // of the latest release that a majority has told
	told    map[int64]map[int]bool // of later ones: by which nodes
}

type waiter struct {
	channels []string
	woken    chan struct{} // room for one
	unused   bool          // woken, and no try has told yet what that was good for; its goroutine's own
}

func newWakes(l *Locker) *wakes {
	w := &wakes{l: l, queues: map[string]*queue{}, stop: make(chan struct{})}
	for range l.nodes {
		w.changed = append(w.changed, make(chan struct{}, 1))
	}
	return w
}

// join adds a waiter for keys; leave it in the end.
func (w *wakes) join(keys []string) *waiter {
	me := &waiter{woken: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range keys {
		ch := w.l.channel(k)
		me.channels = append(me.channels, ch)
		q := w.queues[ch]
		if q == nil {
			q = &queue{told: map[int64]map[int]bool{}}
			w.queues[ch] = q
		}
		q.waiters = append(q.waiters, me)
	}
	w.sync()
	return me
}

// leave removes a waiter, and hands on a wake that it did not use.
func (w *wakes) leave(me *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range me.channels {
		q := w.queues[ch]
		q.waiters = slices.DeleteFunc(q.waiters, func(o *waiter) bool { return o == me })
		if len(q.waiters) == 0 {
			delete(w.queues, ch)
		} else if me.unused || len(me.woken) > 0 {
			q.wakeOne()
		}
	}
	w.sync()
}

// place is how far back a waiter stands in this process, from 1. Only one can win,
// and the first is woken first: were all to poll alike, a hundred waiters would
// keep the nodes busy with refusals.
func (w *wakes) place(me *waiter) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	back := 0
	for _, ch := range me.channels {
		back = max(back, slices.Index(w.queues[ch].waiters, me))
	}
	return back + 1
}

// heard notes that a node freed a key. One waiter is woken, since one can win,
// and when a majority has told, since before that nobody can. A node may lag and
// tell of an earlier release when others tell of the next: that one is history.
func (w *wakes) heard(node int, channel, payload string) {
	token, err := strconv.ParseInt(payload, 10, 64)
	if err != nil {
		return // not from a lock script
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[channel]
	if q == nil || token <= q.token {
		return
	}
	if q.told[token] == nil {
		if len(q.told) == 16 { // what is told by a minority alone is never completed
			delete(q.told, slices.Min(slices.Collect(maps.Keys(q.told))))
		}
		q.told[token] = map[int]bool{}
	}
	q.told[token][node] = true
	if len(q.told[token]) == w.l.need {
		q.token = token
		maps.DeleteFunc(q.told, func(t int64, _ map[int]bool) bool { return t <= token })
		q.wakeOne()
	}
}

// wakeOne wakes the first who is not awake yet, and puts it last.
func (q *queue) wakeOne() {
	for i, o := range q.waiters {
		select {
		case o.woken <- struct{}{}:
			q.waiters = append(slices.Delete(q.waiters, i, i+1), o)
			return
		default:
		}
	}
}

// sync tells the subscribers, and starts them for the first waiter. It holds mu.
func (w *wakes) sync() {
	if !w.started {
		w.started = true
		for i := range w.l.nodes {
			w.loops.Go(func() { w.listen(i) })
		}
	}
	for _, c := range w.changed {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// listen is the subscriber of one node. go-redis reconnects it and subscribes
// again, to the channels that it was asked for.
func (w *wakes) listen(i int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sub := w.l.nodes[i].wire.subscribe(ctx)
	messages := sub.Channel()
	have := map[string]bool{}
	for {
		select {
		case m, ok := <-messages:
			if ok {
				w.heard(i, m.Channel, m.Payload)
			}
		case <-w.changed[i]:
			w.follow(ctx, sub, have)
		case <-w.stop:
			_ = sub.Close()      // nothing is left to hear
			for range messages { // until go-redis's own goroutine is gone
			}
			return
		}
	}
}

// follow makes have, and the subscription, what is wanted now.
func (w *wakes) follow(ctx context.Context, sub subscription, have map[string]bool) {
	var add, drop []string
	w.mu.Lock()
	for ch := range w.queues {
		if !have[ch] {
			add = append(add, ch)
			have[ch] = true
		}
	}
	for ch := range have {
		if w.queues[ch] == nil {
			drop = append(drop, ch)
			delete(have, ch)
		}
	}
	w.mu.Unlock()
	// Errors are the node's: go-redis remembers the wish and asks again when it
	// has reconnected.
	if len(add) > 0 {
		_ = sub.Subscribe(ctx, add...)
	}
	if len(drop) > 0 {
		_ = sub.Unsubscribe(ctx, drop...)
	}
}

// close is called when nobody waits any more.
func (w *wakes) close() {
	w.mu.Lock()
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.mu.Unlock()
	w.loops.Wait()
}
