package redlock

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// rig is a set of real nodes of one test's own, to which it may do anything.
type rig struct {
	servers   []*servers.Redis
	forgetful bool // records vanish, as a control
}

func newRig(tb testing.TB, n int, args ...string) rig {
	tb.Helper()
	return rig{servers: servers.RedisNodes(tb, n, args...)}
}

// newClockRig has nodes whose clocks can be shifted.
func newClockRig(tb testing.TB, n int, args ...string) rig {
	tb.Helper()
	return rig{servers: servers.ClockNodes(tb, n, args...)}
}

// sameNames gives the nodes the same names whichever way they are reached: to the
// fleet they are the same nodes.
func sameNames(urls []string) []Node {
	for i, u := range urls {
		urls[i] = fmt.Sprintf("n%d=%s", i, u)
	}
	return URLs(urls...)
}

// direct is the way to the nodes on which nothing goes wrong.
func (r rig) direct() []Node {
	urls := make([]string, len(r.servers))
	for i, s := range r.servers {
		urls[i] = s.URL()
	}
	return sameNames(urls)
}

// door is a way to the nodes of its own: what is done to its proxies hurts only
// those who go through it.
type door struct {
	proxies []*servers.Proxy
	nodes   []Node
}

func (r rig) door(tb testing.TB) door {
	tb.Helper()
	proxies := servers.Proxies(tb, r.servers)
	urls := make([]string, len(proxies))
	for i, p := range proxies {
		urls[i] = p.URL()
	}
	return door{proxies, sameNames(urls)}
}

// each does the same to all proxies, or to some of them.
func each(tb testing.TB, f func(*servers.Proxy) error, proxies ...*servers.Proxy) {
	tb.Helper()
	for _, p := range proxies {
		if err := f(p); err != nil {
			tb.Fatal(err)
		}
	}
}

func (d door) heal(tb testing.TB) {
	tb.Helper()
	each(tb, (*servers.Proxy).Heal, d.proxies...)
}

// shortly is for who waits for leases to run out. Within a node set all that is
// agreed on is the same in all tests.
func shortly(c *Config) { c.TTL, c.MaxTTL, c.Bound = time.Second, time.Second, 2*time.Second }

// rigLocker is newLocker for short leases, once the nodes vote and are connected
// to: what a first start costs is over.
func rigLocker(tb testing.TB, nodes []Node, change ...func(*Config)) *Locker {
	tb.Helper()
	l := newLocker(tb, nodes, append([]func(*Config){shortly}, change...)...)
	warm(tb, l)
	return l
}

func warm(tb testing.TB, l *Locker) {
	tb.Helper()
	for range 2 {
		_, _ = await(tb, l, Key(newKey(tb))).Release(tb.Context())
	}
}

// hastyLocker is a Locker as processes have it, which wait no longer for a node
// than New allows.
func hastyLocker(tb testing.TB, nodes []Node) *Locker {
	tb.Helper()
	cfg := Config{Nodes: nodes, NodeTimeout: 200 * time.Millisecond}
	shortly(&cfg)
	cfg, err := cfg.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Namespace = apart(cfg)
	l, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	season(l)
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// record is what a node keeps of a key: where it stands says nothing of who may
// read it, so tests look for what they know in it.
func (r rig) record(tb testing.TB, node int, key string) string {
	tb.Helper()
	text, err := r.servers[node].Command(tb.Context(), "EVAL", "return redis.call('GET', redis.call('KEYS', '*lock:' .. ARGV[1])[1] or 'none')", "0", key)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// rest waits, and reports whether it did so to the end.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// allAtOnce runs f so often at once, and waits.
func allAtOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
