package worker

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// asynq's own keys and arguments, for an entry of the test's own. The script is
// not asynq's: a hook that knew the text would not see it.
var (
	ackKeys = []string{"asynq:{default}:active", "asynq:{default}:lease", "asynq:{default}:t:1", "asynq:{default}:processed"}
	ackArgs = []any{"1", 0}
)

// Each kind of client, with an ack under a context that asynq has cancelled.
func TestAnAckUnderACancelledContextGetsThroughEachKindOfClient(t *testing.T) {
	t.Parallel()
	for kind, connect := range map[string]func(t *testing.T) asynq.RedisConnOpt{
		"single": func(t *testing.T) asynq.RedisConnOpt {
			return asynq.RedisClientOpt{Addr: servers.RedisNodes(t, 1)[0].Addr()}
		},
		"sentinel": sentinel,
		"cluster":  cluster,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			client := connect(t).MakeRedisClient().(redis.UniversalClient)
			defer client.Close()
			remove := redis.NewScript(`if redis.call("LREM", KEYS[1], 0, ARGV[1]) == 0 then return redis.error_reply("NOT FOUND") end return redis.status_reply("OK")`)
			if err := client.RPush(t.Context(), ackKeys[0], "1").Err(); err != nil {
				t.Fatal(err)
			}
			ack := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				cancel()
				return remove.Run(ctx, client, ackKeys, ackArgs...).Err()
			}
			if err := ack(); err == nil {
				t.Error("the control: without the hook it got through")
			}
			client.AddHook(newAcks(Config{Logger: slog.New(slog.DiscardHandler)}))
			if err := ack(); err != nil {
				t.Error(err)
			}
			if left, err := client.LLen(t.Context(), ackKeys[0]).Result(); err != nil || left != 0 {
				t.Errorf("%d left, %v", left, err)
			}
			if err := ack(); err != nil { // NOT FOUND
				t.Errorf("asynq would repeat it: %v", err)
			}
			recovery := remove.Run(t.Context(), client, ackKeys, ackArgs...).Err()
			if recovery == nil {
				t.Error("asynq's recoverer, whose context has no deadline, was told that it succeeded")
			}
			past, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			if remove.Run(past, client, ackKeys, ackArgs...).Err() == nil {
				t.Error("an ack got through after asynq's lease")
			}
		})
	}
}

func TestOnlyAcksAreTakenForAcks(t *testing.T) {
	script := func(args ...any) []any { return append([]any{"evalsha", "f00"}, args...) }
	for name, c := range map[string]struct {
		args []any
		want bool
	}{
		"done":       {script(5, "asynq:{q}:active", "asynq:{q}:lease", "asynq:{q}:t:1", "asynq:{q}:processed:2026-12-04", "asynq:{q}:processed", "1", 7), true},
		"retry":      {script(4, "asynq:{q}:t:k:1", "asynq:{q}:active", "asynq:{q}:lease", "asynq:{q}:retry", "k:1", "msg"), true},
		"dequeue":    {script(4, "asynq:{q}:pending", "asynq:{q}:paused", "asynq:{q}:active", "asynq:{q}:lease", 7, "asynq:{q}:t:"), false},
		"enqueue":    {script(2, "asynq:{q}:t:1", "asynq:{q}:pending", "msg", "1"), false},
		"two queues": {script(3, "asynq:{q}:active", "asynq:{r}:lease", "asynq:{q}:t:1", "1"), false},
		"no script":  {[]any{"zadd", "asynq:{q}:lease", "xx", 7, "1"}, false},
		"no keys":    {script(0, "1"), false},
		"cut short":  {script(3, "asynq:{q}:active", "asynq:{q}:lease", "asynq:{q}:t:1"), false},
	} {
		if _, _, got := ackOf(c.args); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if queue, id, _ := ackOf(script(3, "asynq:{a:t:b}:active", "asynq:{a:t:b}:lease", "asynq:{a:t:b}:t:x:t:y", "x:t:y")); queue != "a:t:b" || id != "x:t:y" {
		t.Errorf("queue %q, ID %q", queue, id)
	}
}

// sentinel is a real master behind what answers a client as a sentinel does.
func sentinel(t *testing.T) asynq.RedisConnOpt {
	t.Helper()
	host, port, err := net.SplitHostPort(servers.RedisNodes(t, 1)[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	watcher := miniredis.RunT(t)
	if err := watcher.Server().Register("SENTINEL", func(c *server.Peer, _ string, args []string) {
		if !strings.EqualFold(args[0], "get-master-addr-by-name") {
			c.WriteLen(0) // no other sentinels
			return
		}
		c.WriteStrings([]string{host, port})
	}); err != nil {
		t.Fatal(err)
	}
	return asynq.RedisFailoverClientOpt{MasterName: "queue", SentinelAddrs: []string{watcher.Addr()}}
}

// cluster is a cluster of one node.
func cluster(t *testing.T) asynq.RedisConnOpt {
	t.Helper()
	node := servers.RedisNodes(t, 1, "--cluster-enabled", "yes")[0]
	client := redis.NewClient(&redis.Options{Addr: node.Addr()})
	defer client.Close()
	if err := client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	for !strings.HasPrefix(client.ClusterInfo(t.Context()).Val(), "cluster_state:ok") {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	return asynq.RedisClusterClientOpt{Addrs: []string{node.Addr()}}
}
