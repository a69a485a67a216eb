package redlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfastjobs/holdfast"
)

// simClient is a process that lives, dies and starts again. One goroutine of it,
// the actor, does what its own seed says, one operation whenever the scheduler
// gives it a turn.
type simClient struct {
	w        *simWorld
	id       int
	rng      *rand.Rand
	clock    simClock
	life     *simLife
	l        *Locker
	repeated int64 // for a control: the token it proposes again
	lives    int
	nonces   int
	closing  sync.WaitGroup // of former lives

	turns    chan bool // false: the schedule is over
	mu       sync.Mutex
	idle     bool          // it waits for its turn
	due      time.Duration // when that comes at the earliest
	patience time.Duration // when its caller goes
	cancel   context.CancelFunc
	tenure   *simTenure // held now
	ended    bool
}

func newSimClient(w *simWorld, id int) *simClient {
	return &simClient{
		w: w, id: id, rng: rand.New(rand.NewPCG(w.rng.Uint64(), 2)), turns: make(chan bool),
		clock: simClock{simTime: &w.simTime, begin: time.Duration(w.rng.IntN(1_000_000)) * time.Millisecond, ppm: w.rng.IntN(401) - 200 - w.slow},
	}
}

// begin starts a new process.
func (c *simClient) begin() {
	c.lives++
	c.life = &simLife{client: c.id, number: c.lives, dead: make(chan struct{})}
	cfg := c.w.cfg
	cfg.Clock = c.clock
	wires := make([]wire, len(c.w.nodes))
	for i := range wires {
		wires[i] = simWire{net: &c.w.simNet, life: c.life, node: i, sent: new(int)}
	}
	l, err := assemble(cfg, wires)
	if err != nil {
		panic(err)
	}
	c.l = l
	l.nonce = func() string { // also called when an attempt begins
		c.nonces++
		nonce := fmt.Sprintf("%c%d", 'A'+c.id, c.nonces)
		c.w.began(nonce)
		return nonce
	}
	// A sender takes what waits for it. Were that to race with who sends more at the
	// same instant, a seed would not replay: time passes when nobody has more to do.
	l.gather = func() { pause(context.Background(), time.Nanosecond) }
	if c.w.change != nil {
		c.w.change(c, l)
	}
	if c.w.direct != nil {
		l.ask("TIME") // to know all clocks, as a process that has run for a while
	}
}

// crash ends the process: nothing of it is sent any more, and what is on its way
// may arrive. Its goroutines need a TTL until they notice.
func (c *simClient) crash() {
	c.w.mu.Lock()
	close(c.life.dead)
	c.w.mu.Unlock()
	old := c.l
	c.closing.Go(func() { _ = old.Close() })
	c.begin()
}

// wait waits for the next turn, d from now at the earliest.
func (c *simClient) wait(d time.Duration) bool {
	c.mu.Lock()
	c.idle, c.due, c.patience, c.cancel = true, c.w.now()+d, 0, nil
	c.mu.Unlock()
	c.w.wake()
	return <-c.turns
}

// act is the actor.
func (c *simClient) act() {
	var pause time.Duration
	for c.wait(pause) {
		if c.tenure == nil {
			pause = c.try()
		} else {
			pause = c.hold()
		}
	}
	if t := c.tenure; t != nil && c.rng.IntN(2) == 0 {
		c.end(t)
	}
	_ = c.l.Close()
	c.closing.Wait()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.w.wake()
}

// begun gives an operation a context that the scheduler may end.
func (c *simClient) begun(patience time.Duration) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle, c.cancel, c.patience = false, cancel, c.w.now()+patience
	return ctx
}

// claim is on one key or two, of a job or of nothing.
func (c *simClient) claim() Claim {
	claims := []Claim{Key("a"), Key("j"), Key("a", "j"), Key("j", "a"), Key("j")}
	i := c.rng.IntN(len(claims))
	claim := claims[i]
	if i > 1 {
		claim.Record = "j"
	}
	claim.TTL = []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}[c.rng.IntN(3)]
	if c.rng.IntN(3) == 0 {
		claim.Waiter = "w" + string(rune('A'+c.id))
	}
	return claim
}

func (c *simClient) milliseconds(n int) time.Duration {
	return time.Duration(c.rng.IntN(n*1000)) * time.Microsecond
}

// try does what a process does that holds nothing.
func (c *simClient) try() time.Duration {
	patience := 20*time.Millisecond + c.milliseconds(3000)
	switch c.rng.IntN(20) {
	case 0:
		c.void(patience)
	case 1:
		ctx := c.begun(patience)
		_, found, err := c.l.Record(ctx, "j")
		c.w.say("client %d reads the record: %v %v", c.id, found, err)
	case 2:
		c.w.say("client %d dies, holding nothing", c.id)
		c.crash()
	default:
		claim, way, name := c.claim(), c.l.TryAcquire, "tries"
		if c.rng.IntN(3) == 0 {
			claim.Wait = c.milliseconds(1500)
			way, name = c.l.Acquire, "waits for"
		}
		c.w.say("client %d %s %v, record %q, TTL %v", c.id, name, claim.Keys, claim.Record, claim.TTL)
		lease, err := way(c.begun(patience), claim)
		return c.told(claim, lease, err)
	}
	return c.milliseconds(100)
}

// void takes the record back.
func (c *simClient) void(patience time.Duration) {
	c.w.say("client %d voids", c.id)
	err := c.w.void(func() error { return c.l.Void(c.begun(patience), "j", time.Hour) })
	c.w.say("client %d voided: %v", c.id, err)
}

// told is what an acquire came to.
func (c *simClient) told(claim Claim, lease *Lease, err error) time.Duration {
	if done, ok := errors.AsType[*DoneError](err); ok {
		c.w.answeredDone(done)
	}
	if err != nil {
		c.w.say("client %d gets no lease: %v", c.id, err)
		return c.milliseconds(400)
	}
	c.tenure = c.w.won(c, claim, lease)
	c.w.say("client %d holds %v under %d as %s", c.id, claim.Keys, lease.token, lease.try.nonce)
	return c.milliseconds([]int{50, 500, 2000}[c.rng.IntN(3)])
}

// hold does what a holder does.
func (c *simClient) hold() time.Duration {
	t := c.tenure
	switch c.rng.IntN(10) {
	case 0, 1:
		ctx := c.begun(c.milliseconds(300))
		c.w.say("client %d checks: %v", c.id, t.lease.Check(ctx))
		return c.milliseconds(1000)
	case 2:
		c.w.say("client %d dies, holding %v", c.id, t.lease.Keys())
		c.tenure = nil
		c.crash()
	case 3:
		if t.lease.Err() == nil { // who holds on is settled later
			return c.milliseconds(1000)
		}
		c.w.say("client %d leaves a lost lease: %v", c.id, t.lease.Err())
		c.tenure = nil
	default:
		c.end(t)
	}
	return c.milliseconds(200)
}

// end settles.
func (c *simClient) end(t *simTenure) {
	c.tenure = nil
	ctx := c.begun(0)
	if t.claim.Record != "" && c.rng.IntN(3) > 0 {
		c.w.say("client %d finishes", c.id)
		err := t.lease.Finish(ctx, holdfast.Record{Hash: t.lease.try.nonce}, time.Hour)
		c.w.say("client %d finished: %v", c.id, err)
		if err == nil {
			c.w.committed(t.lease.try.nonce, t.won)
		}
		return
	}
	c.w.say("client %d releases", c.id)
	outcome, err := t.lease.Release(ctx)
	c.w.say("client %d released: %v %v", c.id, outcome, err)
}
