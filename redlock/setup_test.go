package redlock

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
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
	cfg := Config{Nodes: nodes, TTL: 5 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.NodeTimeout = min(cfg.TTL*3/2, 5*time.Second)
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
