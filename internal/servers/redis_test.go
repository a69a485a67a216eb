package servers

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestRedisNodesAreIndependent(t *testing.T) {
	t.Parallel()
	began := time.Now()
	nodes := RedisNodes(t, 3)
	t.Logf("3 nodes up in %.2f s", time.Since(began).Seconds())
	if err := client(t, nodes[0]).Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, r := range nodes[1:] {
		if n, err := client(t, r).Exists(t.Context(), "k").Result(); n != 0 || err != nil {
			t.Errorf("%s: got %d, %v", r.Addr(), n, err)
		}
	}
}

func TestAKilledNodeComesBackEmptyOnItsPort(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	c, addr := client(t, r), r.Addr()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	r.Kill()
	r.Kill() // down stays down
	if listens(addr) {
		t.Error("a killed node accepts connections")
	}
	if err := errors.Join(r.Start(), r.Start()); err != nil { // the second finds it running
		t.Fatal(err)
	}
	if n, err := c.Exists(t.Context(), "k").Result(); n != 0 || err != nil || r.Addr() != addr {
		t.Errorf("got %d, %v at %s, want nothing at %s", n, err, r.Addr(), addr)
	}
}

func TestArgumentsReachTheServer(t *testing.T) {
	t.Parallel()
	r, err := StartRedis(t.TempDir(), "--appendonly", "yes", "--appendfsync", "always")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := client(t, r)
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Get(t.Context(), "k").Result(); v != "v" {
		t.Errorf("got %q, %v: an append-only file outlives kill -9", v, err)
	}
	if err := r.Wipe(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("%d keys outlive a wipe, %v", n, err)
	}
}

func TestAPausedNodeAnswersOnceItIsResumed(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	c := client(t, r)
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Ping(soon).Err(); !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		t.Errorf("paused: got %v, want a timeout", err)
	}
	if err := r.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("resumed: %v", err)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func TestFaultsOnANodeThatIsDownAreErrors(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	r.Kill()
	if err := r.Pause(); !errors.Is(err, errDown) {
		t.Errorf("Pause: got %v", err)
	}
	if err := r.Resume(); !errors.Is(err, errDown) {
		t.Errorf("Resume: got %v", err)
	}
}

func TestCloseEndsAPausedNodeForGood(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close()
	if listens(r.Addr()) {
		t.Error("a closed node accepts connections")
	}
	if err := r.Start(); err == nil {
		t.Error("Start after Close succeeded")
	}
}

func TestAServerThatEndsSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := StartRedis(t.TempDir(), "--no-such-option", "1")
	if err == nil || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("got %v, want the server's own words", err)
	}
}
