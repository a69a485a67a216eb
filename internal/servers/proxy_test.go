package servers

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// through is a client of the node by way of the proxy, with a connection that
// stands.
func through(t *testing.T) (*Redis, *Proxy, *redis.Client) {
	t.Helper()
	nodes := RedisNodes(t, 1)
	p := Proxies(t, nodes)[0]
	o := *client(t, nodes[0]).Options()
	o.Addr, o.PoolSize, o.ReadTimeout = p.Addr(), 1, 200*time.Millisecond
	c := redis.NewClient(&o)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Incr(t.Context(), "n").Err(); err != nil {
		t.Fatal(err)
	}
	return nodes[0], p, c
}

func TestAFaultOfAProxyIsWhatItsNameSaysAndHeals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inflict func(*Proxy) error
		arrives bool // the request reaches the server
		silent  bool // who asks waits in vain
	}{
		"dropped replies": {(*Proxy).DropReplies, true, true},
		"black hole":      {(*Proxy).BlackHole, false, true},
		"cut":             {func(p *Proxy) error { p.Cut(); return nil }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p, through := through(t)
			if err := c.inflict(p); err != nil {
				t.Fatal(err)
			}
			for range 2 { // on the connection that stands, and on a new one
				began := time.Now()
				err := through.Incr(t.Context(), "n").Err()
				if took := time.Since(began); err == nil || c.silent != isTimeout(err) || c.silent && took < 150*time.Millisecond {
					t.Errorf("after %v: %v", took, err)
				}
			}
			if err := p.Heal(); err != nil {
				t.Fatal(err)
			}
			// The new connection waits for the answer to its greeting.
			want := map[bool]string{true: "2", false: "1"}[c.arrives]
			eventually(t, "the server has what arrived", func() bool {
				n, err := r.Command(t.Context(), "GET", "n")
				return err == nil && n == want
			})
			eventually(t, "it is healed", func() bool { return through.Ping(t.Context()).Err() == nil })
			if err := p.Heal(); err != nil { // healthy stays healthy
				t.Fatal(err)
			}
			if err := through.Ping(t.Context()).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASlowProxyDelaysRepliesUntilItHeals(t *testing.T) {
	t.Parallel()
	_, p, c := through(t)
	took := func() time.Duration {
		began := time.Now()
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Error(err)
		}
		return time.Since(began)
	}
	if err := p.Slow(100 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if d := took(); d < 100*time.Millisecond {
		t.Errorf("slow: %v", d)
	}
	if err := p.Heal(); err != nil {
		t.Fatal(err)
	}
	if d := min(took(), took(), took()); d > 50*time.Millisecond {
		t.Errorf("healed: %v", d)
	}
}
