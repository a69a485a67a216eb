package redlock

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/internal/servers"
)

// realServers are seven redis-servers that all tests of the package share,
// started by the first that wants any.
var realServers struct {
	once    sync.Once
	dir     string
	running []*servers.Redis
	err     error
}

// realNodes are the first n of them.
func realNodes(tb testing.TB, n int) []Node {
	tb.Helper()
	realServers.once.Do(func() { realServers.err = startServers(7) })
	if realServers.err != nil {
		tb.Fatal(realServers.err)
	}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = realServers.running[i].URL()
	}
	return URLs(urls...)
}

// Since Redis 7 a new user may use no channel unless it is said.
func TestAUserWithoutChannelsFinishesAndFreesAllKeys(t *testing.T) {
	t.Parallel()
	nodes := realNodes(t, 3)
	admin := newLocker(t, nodes)
	for i, n := range admin.nodes {
		if err := n.client().Do(t.Context(), "ACL", "SETUSER", "deaf", "on", ">pw", "~holdfast:*", "resetchannels", "+@all").Err(); err != nil {
			t.Fatal(err)
		}
		nodes[i].Options.Username, nodes[i].Options.Password = "deaf", "pw"
	}
	l, a, b := newLocker(t, nodes, func(c *Config) { c.TTL = c.MaxTTL }), newKey(t), newKey(t)
	if err := l.nodes[0].client().Publish(t.Context(), l.channel(a), "1").Err(); !redis.HasErrorPrefix(err, "NOPERM") {
		t.Fatal("control: it may publish:", err)
	}
	s, start := take(t, l, Claim{Keys: []string{a, b}, Record: a}), time.Now()
	if err := s.Finish(t.Context(), holdfast.Record{}, 0); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{a, b} {
		await(t, l, Key(k))
	}
	if took := time.Since(start); took >= l.cfg.TTL/4 {
		t.Errorf("free after %v: only when the nodes were told again", took)
	}
}

func startServers(n int) (err error) {
	if realServers.dir, err = os.MkdirTemp("", "redlock"); err != nil {
		return err
	}
	for i := range n {
		dir := filepath.Join(realServers.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		r, err := servers.StartRedis(dir)
		if err != nil {
			return err
		}
		realServers.running = append(realServers.running, r)
	}
	return nil
}

func stopServers() {
	for _, r := range realServers.running {
		r.Close()
	}
	_ = os.RemoveAll(realServers.dir)
}
