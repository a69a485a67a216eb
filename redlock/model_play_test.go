package redlock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// looksAt answers each key as "text" and its time to live.
const looksAt = `
local all = {}
for _, key in ipairs(KEYS) do
  local text = ''
  if redis.call('TYPE', key).ok == 'hash' then
    local fields = redis.call('HKEYS', key)
    table.sort(fields)
    for i, f in ipairs(fields) do fields[i] = f .. '=' .. redis.call('HGET', key, f) end
    text = table.concat(fields, ' ')
  else text = redis.call('GET', key) or '' end
  all[#all + 1], all[#all + 2] = text, tostring(redis.call('PTTL', key))
end
return all`

// sameNode is a node that plays what the model lived through.
type sameNode struct {
	redis *redis.Client
	heard *redis.PubSub
}

func newSameNode(tb testing.TB, n Node) *sameNode {
	tb.Helper()
	options := *n.Options
	options.ReadTimeout = 20 * time.Second
	client := redis.NewClient(&options)
	s := &sameNode{redis: client, heard: client.PSubscribe(tb.Context(), "same:*")}
	tb.Cleanup(func() {
		_ = s.heard.Close()
		_ = client.Close()
	})
	if _, err := s.heard.Receive(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// play returns the first difference.
func (n *sameNode) play(ctx context.Context, sequences []*sequence) error {
	p := n.redis.Pipeline()
	for _, s := range sequences {
		for _, st := range s.steps {
			p.Set(ctx, s.clockKey, st.now, 0)
			p.Do(ctx, st.cmd...)
			if st.kept != nil {
				p.Eval(ctx, looksAt, s.keys())
			}
		}
		p.Del(ctx, append(s.keys(), s.clockKey)...)
	}
	p.Publish(ctx, "same:end", "")
	cmds, _ := p.Exec(ctx) // a refusal may be the right answer
	var said []string
	for _, s := range sequences {
		for i, st := range s.steps {
			got := answerOf(cmds[1].(*redis.Cmd))
			cmds = cmds[2:]
			if st.kept == nil {
				continue
			}
			kept := cmds[0].(*redis.Cmd)
			cmds = cmds[1:]
			if !sameAnswer(got, st.said) {
				return fmt.Errorf("%s\nnode:  %q %v\nmodel: %q %v", s.until(i), got.text, got.err, st.said.text, st.said.err)
			}
			if err := sameKeys(st.kept, s.keys(), kept); err != nil {
				return fmt.Errorf("%s\n%w", s.until(i), err)
			}
		}
		cmds = cmds[1:]
		said = append(said, s.published...)
	}
	return n.hears(ctx, said)
}

// hears compares the messages that the node published.
func (n *sameNode) hears(ctx context.Context, said []string) error {
	var heard []string
	for {
		m, err := n.heard.ReceiveMessage(ctx)
		switch {
		case err != nil:
			return err
		case m.Channel == "same:end" && !slices.Equal(heard, said):
			return fmt.Errorf("heard %q, the model published %q", heard, said)
		case m.Channel == "same:end":
			return nil
		}
		heard = append(heard, m.Channel+" "+m.Payload)
	}
}

func answerOf(c *redis.Cmd) answer {
	switch v, err := c.Result(); v := v.(type) {
	case string:
		return answer{text: []string{v}, err: err}
	case []any:
		text := make([]string, len(v))
		for i, w := range v {
			text[i] = fmt.Sprint(w)
		}
		return answer{text: text, err: err}
	default:
		return answer{err: err}
	}
}

// sameAnswer compares refusals by their first word: the rest is the server's own.
func sameAnswer(a, b answer) bool {
	code := func(err error) string {
		if err == nil {
			return ""
		}
		return strings.Fields(err.Error())[0]
	}
	return slices.Equal(a.text, b.text) && code(a.err) == code(b.err)
}

// sameKeys compares all that is kept, and roughly for how long.
func sameKeys(model map[string]modelEntry, keys []string, looked *redis.Cmd) error {
	got, err := looked.StringSlice()
	if err != nil {
		return err
	}
	store := modelStore{keys: model, ageless: true}
	if len(model) > len(keys) {
		return fmt.Errorf("the model keeps other keys: %v", slices.Sorted(maps.Keys(model)))
	}
	for i, key := range keys {
		text, there := store.text(key)
		if text != got[2*i] {
			return fmt.Errorf("%s\nnode:  %q\nmodel: %q", key, got[2*i], text)
		}
		ttl, left := model[key].ttl, parse(got[2*i+1])
		if there && (ttl == 0) != (left == -1) || ttl > 0 && (left > ttl || left < ttl-30000) {
			return fmt.Errorf("%s lives %d ms, by the model %d", key, left, ttl)
		}
	}
	return nil
}
