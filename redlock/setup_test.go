package redlock

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
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
	code := m.Run()
	stopServers()
	stopFleet()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

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
	season(tb, l)
	return l
}

// freshLocker is newLocker on nodes as they are.
func freshLocker(tb testing.TB, nodes []Node, change ...func(*Config)) *Locker {
	tb.Helper()
	cfg := Config{Nodes: nodes, TTL: 5 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.NodeTimeout = min(cfg.TTL*3/2, 5*time.Second)
	cfg.Ungated = true // embedded nodes are; the others are gated all the same
	if cfg.Namespace == "holdfast:" {
		h := fnv.New32a() // tests share servers, and not configurations
		_, _ = h.Write([]byte(configText(cfg)))
		cfg.Namespace = fmt.Sprintf("holdfast:%x:", h.Sum32())
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

// season makes the nodes old enough to vote: a fresh one would not, for MaxTTL.
// What cannot be reached, or is not gated, is left as it is.
func season(tb testing.TB, l *Locker) {
	tb.Helper()
	for _, n := range l.nodes {
		info, err := n.client().Info(tb.Context(), "server").Result()
		if run := infoField(info, "run_id"); err == nil && run != "" {
			marker := run + ":1:" + l.config
			if err := n.client().SetNX(tb.Context(), l.markerKey(), marker, 0).Err(); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

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
func (n *node) say(script func(*life) string, args ...any) (reply, error) {
	answers := make(chan vote, 1)
	n.send(&request{script: script, args: args, answer: func(v vote, _ bool) { answers <- v }})
	v := <-answers
	return v.reply, v.err
}

// extended is one round of extension.
func extended(s *Lease) (Why, error) {
	over := make(chan *round, 1)
	s.extend(func(r *round) { over <- r })
	return (<-over).result()
}
