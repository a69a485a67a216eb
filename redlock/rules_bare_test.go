package redlock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// bareNode is a node without a client around it.
type bareNode struct {
	redis  *redis.Client
	cfg    Config
	marker string // the name of its key
	life   life
}

func newBareNode(t *testing.T, n Node) *bareNode {
	t.Helper()
	cfg, err := Config{Nodes: []Node{n}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(n.Options)
	t.Cleanup(func() { _ = client.Close() })
	return &bareNode{redis: client, cfg: cfg, marker: newKey(t) + "/marker"}
}

// time is the node's, in microseconds.
func (n *bareNode) time(t *testing.T) int64 {
	t.Helper()
	at, err := n.redis.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// join makes the node live since boot.
func (n *bareNode) join(t *testing.T, boot int64) {
	t.Helper()
	var err error
	if n.life, err = newLife("run:"+number(boot)+":"+configText(n.cfg), n.cfg); err != nil {
		t.Fatal(err)
	}
	n.set(t, n.marker, n.life.marker)
	for _, s := range []script{n.life.acquire, n.life.extend, n.life.settle} {
		if sha, err := n.redis.ScriptLoad(t.Context(), s.text).Result(); err != nil || sha != s.sha {
			t.Fatal(sha, s.sha, err)
		}
	}
}

// plant returns the keys of a claim with these records, or of one without, and
// those of the records alone.
func (n *bareNode) plant(t *testing.T, records []string) (keys, names []string) {
	t.Helper()
	keys = []string{n.marker, newKey(t) + "/done"}
	for i := range max(1, len(records)) {
		k := newKey(t)
		names, keys = append(names, k), append(keys, k, k+"/waiters")
		if len(records) > 0 {
			n.set(t, k, records[i])
		}
	}
	return keys, names
}

func (n *bareNode) set(t *testing.T, key, text string) {
	t.Helper()
	if err := n.redis.Set(t.Context(), key, text, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
}

func (n *bareNode) run(t *testing.T, s script, keys []string, args ...any) []string {
	t.Helper()
	r, err := n.redis.EvalSha(t.Context(), s.sha, keys, args...).StringSlice()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kept is the texts of those keys that are there.
func (n *bareNode) kept(t *testing.T, keys []string) string {
	t.Helper()
	var texts []string
	for _, k := range keys {
		text, err := n.redis.Get(t.Context(), k).Result()
		if err == nil {
			texts = append(texts, text)
		} else if !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
	}
	return strings.Join(texts, " ")
}
