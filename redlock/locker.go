package redlock

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
)

// Locker takes locks on one node set. A process needs one; it is safe for
// concurrent use. Its owner closes it.
type Locker struct {
	cfg     Config
	config  string // what the fleet must agree on, as text
	nodes   []*node
	need    int // the majority
	clocks  *clocks
	keeper  *keeper
	wakes   *wakes
	signals *signals

	returns  returns                     // of nodes that were down
	warned   sync.Once                   // of what Check saw
	founding chan struct{}               // one fresh node at a time; a channel, since who waits here waits for the network
	propose  func(now, seen int64) int64 // a new token
	nonce    func() string               // a new nonce
	gather   func()                      // before a sender takes what waits; a simulation lets all senders of an instant come first

	calls context.Context // what goes on when callers leave; ends last
	open  context.Context // ends first, with ErrClosed

	mu     sync.Mutex // orders enter and Close
	closed bool
	close  context.CancelCauseFunc
	stop   context.CancelFunc
	work   sync.WaitGroup // operations, and what they leave running
}

// New returns a Locker, or a [holdfast.FieldError] for the first bad field. It
// does not speak to the nodes yet.
//
// [holdfast.FieldError]: https://pkg.go.dev/github.com/holdfastjobs/holdfast#FieldError
func New(cfg Config) (*Locker, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return build(cfg)
}

// build makes a Locker of a checked Config.
func build(cfg Config) (*Locker, error) {
	wires := make([]wire, len(cfg.Nodes))
	for i, n := range cfg.Nodes {
		wires[i] = redisWire{client: redis.NewClient(ownOptions(n.Options, cfg.NodeTimeout))}
	}
	return assemble(cfg, wires)
}

// assemble puts a Locker on wires.
func assemble(cfg Config, wires []wire) (*Locker, error) {
	l := &Locker{cfg: cfg, config: configText(cfg), need: len(wires)/2 + 1, nonce: rand.Text, gather: func() {}, founding: make(chan struct{}, 1)}
	var err error
	if l.signals, err = newSignals(cfg); err != nil {
		return nil, err
	}
	l.propose = (&tokens{bound: cfg.Bound}).propose
	l.clocks = newClocks(cfg.Clock, len(wires), cfg.MaxTTL)
	l.calls, l.stop = context.WithCancel(context.Background())
	l.open, l.close = context.WithCancelCause(context.Background())
	for i, w := range wires {
		l.nodes = append(l.nodes, newNode(l, i, cfg.Nodes[i].name(), w))
	}
	l.keeper = newKeeper(cfg.Clock)
	l.wakes = newWakes(l)
	return l, nil
}

// enter counts an operation in, or says that it comes too late. Whoever got in
// may add to l.work: its count is above zero until leave.
func (l *Locker) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.work.Add(1)
	return nil
}

func (l *Locker) leave() { l.work.Done() }

// Close ends all waiting, ends the contexts of all leases with a cause that Is
// [ErrClosed], and waits until nothing of the Locker runs: clean-up after failed
// attempts may take up to a TTL when nodes are silent. Leases that are still
// held are not released, since their holders may still be at work: they run out.
// Closing twice is the same as once.
func (l *Locker) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	l.close(ErrClosed)
	l.keeper.close()
	l.work.Wait()
	l.wakes.close()
	for _, n := range l.nodes {
		n.shut() // before its calls fail, or it would look for the node again and again
	}
	l.stop()
	if !first {
		return nil
	}
	var errs []error
	for _, n := range l.nodes {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}

// Telemetry is what the Locker reports to, for those who report beside it.
func (l *Locker) Telemetry() holdfast.Telemetry { return l.cfg.Telemetry }

// Logger is where the Locker logs, likewise.
func (l *Locker) Logger() *slog.Logger { return l.cfg.Logger }

// Accepts returns the field error that an acquire of c would end with, or nil:
// for those who want to refuse a claim before there is work to do.
func (l *Locker) Accepts(c Claim) error {
	_, err := c.checked(l.cfg)
	return err
}

func (l *Locker) recordKey(key string) string  { return l.cfg.Namespace + "lock:" + key }
func (l *Locker) doneKey(key string) string    { return l.cfg.Namespace + "done:" + key }
func (l *Locker) waitersKey(key string) string { return l.cfg.Namespace + "wait:" + key }
func (l *Locker) channel(key string) string    { return l.cfg.Namespace + "free:" + key }
func (l *Locker) markerKey() string            { return l.cfg.Namespace + "marker" }
