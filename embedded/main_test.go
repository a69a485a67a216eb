package embedded

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a running fleet that ends with the test.
func start(t *testing.T, nodes int) *Fleet {
	t.Helper()
	f, err := Start(nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// dial returns a client of url that ends with the test.
func dial(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries, o.DialerRetries = -1, 1 // a node that is down is a plain no
	return client(t, o)
}

// inMemory returns a client of n without a socket, as synctest needs it.
func inMemory(t *testing.T, n *node) *redis.Client {
	t.Helper()
	stop := make(chan struct{})
	go age(stop, n)
	t.Cleanup(func() { close(stop); n.redis.Close() })
	return client(t, &redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) { return n.redis.Dial() },
	})
}

func client(t *testing.T, o *redis.Options) *redis.Client {
	t.Helper()
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// eventually polls until ok says so, for at most five seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(5 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within 5s: %s", what)
		}
	}
}
