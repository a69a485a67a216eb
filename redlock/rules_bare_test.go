package redlock

import (
	"errors"
	"slices"
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
	s := n.life.script
	if sha, err := n.redis.ScriptLoad(t.Context(), s.text).Result(); err != nil || sha != s.sha {
		t.Fatal(sha, s.sha, err)
	}
}

// plant returns the keys of a full claim with these records, or of one without, and
// those of the records alone.
func (n *bareNode) plant(t *testing.T, records []string) (claim, names []string) {
	t.Helper()
	waiters := []string{newKey(t) + "/done"}
	for i := range max(1, len(records)) {
		k := newKey(t)
		names, waiters = append(names, k), append(waiters, k+"/waiters")
		if len(records) > 0 {
			n.set(t, k, records[i])
		}
	}
	return slices.Concat(names, waiters), names
}

func (n *bareNode) set(t *testing.T, key, text string) {
	t.Helper()
	if err := n.redis.Set(t.Context(), key, text, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
}

// run asks for one thing. held is how many keys the claim has.
func (n *bareNode) run(t *testing.T, verb string, held int, keys []string, args ...any) reply {
	t.Helper()
	r := &request{verb: verb, held: held, args: args}
	for _, k := range keys {
		r.keys = append(r.keys, k)
	}
	cmds, _ := pack([]*request{r}, n.marker, n.life.script.sha)
	text, err := n.redis.Do(t.Context(), cmds[0]...).StringSlice()
	switch {
	case err != nil:
		t.Fatal(err)
	case len(text) == 1:
		return reply{code: text[0]}
	}
	answer := readReply(text[1])
	answer.now = parse(text[0])
	return answer
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
