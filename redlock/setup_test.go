package redlock

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis tells of every node that tests take down
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(atOnce) // tests wait for nodes and time more than they compute
	}
	code := m.Run()
	stopServers()
	stopFleet()
	if code == 0 {
		if err := goleak.Find(toxicLeak); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// toxicLeak is a goroutine that toxiproxy leaves behind now and then when a
// connection ends while a fault is put on it.
var toxicLeak = goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run")

// minis starts three in-process nodes for one test.
func minis(tb testing.TB) []*miniredis.Miniredis {
	tb.Helper()
	nodes := make([]*miniredis.Miniredis, 3)
	for i := range nodes {
		nodes[i] = miniredis.NewMiniRedis()
		nodes[i].ClockTTL(true)
		if err := nodes[i].Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(nodes[i].Close)
	}
	return nodes
}

func addresses(nodes []*miniredis.Miniredis) []Node {
	urls := make([]string, len(nodes))
	for i, n := range nodes {
		urls[i] = fmt.Sprintf("n%d=redis://%s", i, n.Addr())
	}
	return URLs(urls...)
}

// newLocker is more patient with its nodes than New allows: a loaded machine is
// no fault.
func newLocker(tb testing.TB, nodes []Node, change ...func(*Config)) *Locker {
	tb.Helper()
	l := freshLocker(tb, nodes, change...)
	season(l)
	return l
}

// freshLocker is newLocker on nodes as they are.
func freshLocker(tb testing.TB, nodes []Node, change ...func(*Config)) *Locker {
	tb.Helper()
	cfg := Config{Nodes: nodes, TTL: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&cfg)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.NodeTimeout = min(cfg.TTL*3/2, 5*time.Second)
	cfg.Ungated = true                // embedded nodes are; the others are gated all the same
	if cfg.Namespace == "holdfast:" { // the default, and no test's own
		cfg.Namespace = apart(cfg)
	}
	l, err := build(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

var keys atomic.Int64

// newKey is this test's own, on nodes that all tests share.
func newKey(tb testing.TB) string {
	return fmt.Sprintf("%s/%d", strings.ReplaceAll(tb.Name(), "/", "."), keys.Add(1))
}

// eventually waits for what happens behind the caller's back.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(5 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatal("never: " + what)
		}
	}
}

// apart is a namespace for those of one configuration: tests share servers, and
// not configurations.
func apart(cfg Config) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(configText(cfg)))
	return fmt.Sprintf("holdfast:%x:", h.Sum32())
}

// season makes the nodes old enough to vote, once: a fresh one would not, for
// MaxTTL, and one that restarts later does not. What cannot be reached, or is not
// gated, is left as it is.
func season(l *Locker) {
	for _, n := range l.nodes {
		info, err := n.client().Info(context.Background(), "server").Result()
		run, port := infoField(info, "run_id"), infoField(info, "tcp_port") // a proxy has another
		if err != nil || run == "" {
			continue
		}
		if _, done := seasoned.LoadOrStore(port+l.markerKey(), true); !done {
			_ = n.client().SetNX(context.Background(), l.markerKey(), run+":1:"+l.config, 0).Err()
		}
	}
}

var seasoned sync.Map

// client is go-redis's own, for a look at the node beside its sender.
func (n *node) client() *redis.Client { return n.wire.(redisWire).client }

// get is a key's text; redis.Nil when there is none.
func (n *node) get(ctx context.Context, key string) (string, error) {
	return n.client().Get(ctx, key).Result()
}

// calm waits until every node has answered what was sent to it so far.
func calm(l *Locker) {
	answers := l.ask("TIME")
	for range l.nodes {
		<-answers
	}
}

// say sends one request to a node through its sender, and returns the answer.
func (n *node) say(r request) (reply, error) {
	answers := make(chan vote, 1)
	r.answer = func(v vote, _ bool) { answers <- v }
	n.send(&r)
	v := <-answers
	return v.reply, v.err
}

// extended is one round of extension.
func extended(s *Lease) (Why, error) {
	over := make(chan *round, 1)
	s.extend(func(r *round) { over <- r })
	return (<-over).result()
}
