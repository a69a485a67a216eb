package redlock

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfastjobs/holdfast"
)

// simWorld is one schedule: clients, nodes, and the network between them, inside a
// synctest bubble. The test's own goroutine is the scheduler. It lets one thing
// happen, waits until every client has done what follows and sleeps again, and
// draws the next from its seed.
type simWorld struct {
	cfg Config
	simTime
	simNet
	simChecks
	simSetting
	rng     *rand.Rand
	nodes   []*simNode
	clients []*simClient
	steps   atomic.Int64

	stepped time.Duration // by how much clocks stepped, in all
	telling sync.Mutex
	tell    func(line string) // what happens, for who replays it; nil: nobody listens
}

// simSetting is what kind of world it is.
type simSetting struct {
	nodes, clients, steps int
	clocks                simClocks
	loss, twice, delay    int // of a hundred messages
	faults                int // of a thousand steps
	loses                 []int
	config                func(*Config)
	slow                  int                           // how much slower than the nodes' the clients' clocks are, in ppm
	strict                bool                          // suspended or not, a process must notice in time
	without               leftOut                       // rules that the nodes break
	change                func(c *simClient, l *Locker) // rules that the clients break
}

// simClocks is what may happen to the nodes' clocks.
type simClocks int

const (
	clocksSteady  simClocks = iota // they are skewed, and drift
	clocksGuarded                  // one of at least three steps, once, and by more than a round trip can hide: votes must save exclusion
	clocksJumpy                    // they step as they like, and nodes keep their data: tokens are what is left
)

// simNode is a node and its clock.
type simNode struct {
	*modelNode
	clock   *simWallClock
	stepped time.Duration   // where steps have taken it
	down    time.Duration   // until then nobody gets through
	cut     []time.Duration // by client: likewise
}

// simConfig is a small one: the slow rules come to their turn within a schedule.
func simConfig(t *testing.T, nodes int) Config {
	t.Helper()
	cfg := Config{
		TTL: 800 * time.Millisecond, MaxTTL: 800 * time.Millisecond, Bound: 500 * time.Millisecond, FenceTTL: 2200 * time.Millisecond,
		Logger:    slog.New(slog.DiscardHandler),
		Telemetry: holdfast.Telemetry{TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()},
	}
	for i := range nodes {
		cfg.Nodes = append(cfg.Nodes, Node{Name: string(rune('a' + i)), Options: &redis.Options{Addr: "sim"}})
		cfg.Nodes[i].Options.Addr = cfg.Nodes[i].Name
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// settingOf draws the kind of world.
func settingOf(rng *rand.Rand) simSetting {
	oneOf := func(from ...int) int { return from[rng.IntN(len(from))] }
	s := simSetting{
		nodes: oneOf(1, 3, 3, 3, 5), clients: oneOf(2, 3, 4), steps: 500,
		clocks: simClocks(oneOf(int(clocksSteady), int(clocksSteady), int(clocksSteady), int(clocksGuarded), int(clocksJumpy))),
		loss:   oneOf(0, 1, 2, 5, 15), twice: oneOf(0, 3, 10), delay: oneOf(0, 1, 3, 10),
		faults: oneOf(0, 5, 10, 30),
		loses:  []int{loseNothing, loseAll, 1, 3, 10},
	}
	if s.clocks == clocksGuarded {
		s.nodes = max(s.nodes, 3)
	}
	return s
}

// simulate runs one schedule, and returns it as it was at its end.
func simulate(t *testing.T, seed uint64, change func(*simSetting), tell func(string)) *simWorld {
	t.Helper()
	w := &simWorld{rng: rand.New(rand.NewPCG(seed, 1)), tell: tell}
	w.simSetting = settingOf(w.rng)
	if change != nil {
		change(&w.simSetting)
	}
	synctest.Test(t, func(t *testing.T) {
		w.build(t)
		w.run()
	})
	return w
}

// build starts the nodes, which have been in the fleet for long, and the clients,
// which know them.
func (w *simWorld) build(t *testing.T) {
	w.cfg = simConfig(t, w.simSetting.nodes)
	if w.config != nil {
		w.config(&w.cfg)
	}
	w.start, w.kick = time.Now(), make(chan struct{}, 1)
	for i := range w.simSetting.nodes {
		clock := &simWallClock{simTime: &w.simTime, ahead: w.skew(i), ppm: w.rng.IntN(401) - 200}
		n := &simNode{modelNode: newModelNode(w.cfg.Nodes[i].name(), clock.micros), clock: clock, cut: make([]time.Duration, w.simSetting.clients)}
		n.without = w.without
		marker := n.runID() + ":" + number(clock.micros()-time.Hour.Microseconds()) + ":" + configText(w.cfg)
		n.plant(w.cfg.Namespace+"marker", marker, 0)
		w.nodes = append(w.nodes, n)
	}
	w.serves = func(node int) int { return w.nodes[node].life() }
	w.direct = func(m *simMessage) []answer { return w.nodes[m.node].pipeline(m.cmds) }
	for i := range w.simSetting.clients {
		c := newSimClient(w, i)
		w.clients = append(w.clients, c)
		c.begin()
		w.pass(time.Microsecond)
	}
	w.mu.Lock()
	w.direct = nil
	w.mu.Unlock()
	for _, c := range w.clients {
		go c.act()
	}
	synctest.Wait()
}

// skew is how wrong a node's clock is: most are within the margin of a majority,
// and one may be anywhere.
func (w *simWorld) skew(node int) time.Duration {
	d := time.Duration(w.rng.IntN(40)) * time.Millisecond
	if node == 1 && w.rng.IntN(3) == 0 {
		d = time.Duration(w.rng.IntN(20_000)-10_000) * time.Millisecond
	}
	return d
}
