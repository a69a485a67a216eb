package embedded

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// What the lock scripts and the queue need of a Redis, each on the fake clock
// where time matters.

func TestKeysEndWithinATickBeforeOrAfterTheirTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newNode())
		if err := c.Set(t.Context(), "k", "v", 100*time.Millisecond).Err(); err != nil {
			t.Fatal(err)
		}
		<-time.After(99 * time.Millisecond)
		if n := c.Exists(t.Context(), "k").Val(); n != 1 {
			t.Error("gone after 99 of 100 ms")
		}
		<-time.After(time.Millisecond + tick)
		if n := c.Exists(t.Context(), "k").Val(); n != 0 {
			t.Error("alive a tick after its 100 ms")
		}
		<-time.After(tick - 2*time.Millisecond) // near the end of a tick
		if err := c.Set(t.Context(), "k", "v", 100*time.Millisecond).Err(); err != nil {
			t.Fatal(err)
		}
		<-time.After(100*time.Millisecond - tick)
		if n := c.Exists(t.Context(), "k").Val(); n != 1 {
			t.Error("gone more than a tick before its 100 ms")
		}
	})
}

func TestTTLsSetInAScriptRunOut(t *testing.T) {
	t.Parallel()
	claim := redis.NewScript(`
		if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return -1 end
		return redis.call('PTTL', KEYS[1])`)
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newNode())
		run := func(want int) {
			t.Helper()
			got, err := claim.Run(t.Context(), c, []string{"k"}, "token", 5000).Int()
			if late := time.Duration(got-want) * time.Millisecond; err != nil || late < 0 || late > tick {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
		}
		run(-1)
		<-time.After(2 * time.Second)
		run(3000) // held, 3 s left
		<-time.After(3*time.Second + tick)
		run(-1) // free again
	})
}

func TestTIMEInAScriptFollowsTheClock(t *testing.T) {
	t.Parallel()
	now := redis.NewScript(`local t = redis.call('TIME') return t[1] * 1000000 + t[2]`)
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newNode())
		for range 3 {
			got, err := now.Run(t.Context(), c, nil).Int64()
			if want := time.Now().UnixMicro(); err != nil || got != want {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
			<-time.After(1234567 * time.Microsecond)
		}
	})
}

func TestTTLsRunOutOverASocketToo(t *testing.T) {
	t.Parallel()
	f := start(t, 1)
	for _, url := range append(f.Locks(), f.Queue()) {
		c := dial(t, url)
		if err := c.Set(t.Context(), "k", "v", 30*time.Millisecond).Err(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the key ends", func() bool { return c.Exists(t.Context(), "k").Val() == 0 })
	}
}

func TestATTLRunsOnWhileItsNodeIsDown(t *testing.T) {
	t.Parallel()
	f := start(t, 1)
	c := dial(t, f.Locks()[0])
	if err := c.Set(t.Context(), "k", "v", 20*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	f.StopNode(0)
	<-time.After(20*time.Millisecond + 2*tick)
	if err := f.RestartNode(0); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Exists(t.Context(), "k").Result(); n != 0 || err != nil {
		t.Errorf("got %d, %v: the key outlived its TTL", n, err)
	}
}

func TestALoadedScriptRunsByItsHash(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, 1).Locks()[0])
	const script = `return ARGV[1]`
	unknown := redis.NewScript(script).Hash()
	if err := c.EvalSha(t.Context(), unknown, nil, "x").Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
		t.Errorf("before SCRIPT LOAD: got %v", err)
	}
	sha, err := c.ScriptLoad(t.Context(), script).Result()
	if err != nil || sha != unknown {
		t.Fatalf("SCRIPT LOAD: got %q, %v", sha, err)
	}
	if got, err := c.EvalSha(t.Context(), sha, nil, "x").Text(); got != "x" {
		t.Errorf("EVALSHA: got %q, %v", got, err)
	}
}

func TestAPublishInAScriptReachesSubscribers(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, 1).Locks()[0])
	sub := c.Subscribe(t.Context(), "freed")
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil { // the subscription is in force
		t.Fatal(err)
	}
	heard, err := c.Eval(t.Context(), `return redis.call('PUBLISH', 'freed', 'k')`, nil).Int()
	if err != nil || heard != 1 {
		t.Fatalf("PUBLISH: got %d, %v", heard, err)
	}
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != "k" {
		t.Errorf("got %v, %v", m, err)
	}
}
