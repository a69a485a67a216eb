package redlock

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// scriptsKeep says what one node answers, and keeps, to scripts sent to it as
// they are: what the client around them would hide.
func scriptsKeep(t *testing.T, nodes []Node) {
	l := newLocker(t, nodes)
	n := l.nodes[0]
	if err := n.readTime(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := l.nodeNow()
	T := now - now%2
	// Letters stand for numbers: T the token, B one below it, A one above it, F the
	// floor after it, L a deadline to come.
	say := strings.NewReplacer("T", num(T), "B", num(T-2), "A", num(T+2), "F", num(T+1), "L", num(now+int64(time.Minute/time.Microsecond)))
	old, future := now-(l.cfg.FenceTTL-l.cfg.Bound).Microseconds()-1e6, now+l.cfg.Bound.Microseconds()+60e6
	for name, c := range map[string]struct {
		call   string // acquire, extend, or a mode of settle
		token  int64
		before string // records of one key or two; "" is none
		code   string
		after  string
	}{
		"an expired grant is not extended":               {"extend", T, "T:T:1:1:me:0:0:", codeGone, "T:T:1:1:me:0:0:"},
		"a forgotten grant is not extended":              {"extend", T, "", codeGone, ""},
		"abandon brings back what was displaced":         {modeAbandon, T, "T:T:1:L:me:4:2:old", codeOK, "F:4:2:0:old:0:0:"},
		"release keeps late messages out":                {modeRelease, T, "T:T:1:L:me:4:2:old", codeOK, "F:T:0:0:me:4:2:old"},
		"abandon leaves another's lower grant alone":     {modeAbandon, T, "B:B:1:L:other:0:0:", codeNone, "F:B:1:L:other:0:0:"},
		"release leaves another's lower grant alone":     {modeRelease, T, "B:B:1:L:other:0:0:", codeNone, "F:B:1:L:other:0:0:"},
		"a displaced tenure is told as released":         {modeRelease, T, "A:A:1:L:other:T:2:me", codeNone, "A:A:1:L:other:T:0:me"},
		"finish needs all keys":                          {modeFinish, T, "T:T:1:L:me:0:0: A:A:1:L:other:0:0:", codeStale, "F:T:0:0:me:0:0: A:A:1:L:other:0:0:"},
		"a token as old as a forgotten record is low":    {"acquire", old, "", codeLow, ""},
		"a token far ahead of the node's clock is early": {"acquire", future, "", codeFuture, ""},
	} {
		keys, records := []string{l.markerKey(), l.doneKey(newKey(t))}, strings.Fields(say.Replace(c.before))
		var names []string
		for i := range max(1, len(records)) {
			k := newKey(t)
			names, keys = append(names, l.recordKey(k)), append(keys, l.recordKey(k), l.waitersKey(k))
			if len(records) > 0 {
				if err := n.redis.Set(t.Context(), l.recordKey(k), records[i], time.Minute).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var r reply
		var err error
		switch c.call {
		case "acquire":
			r, err = n.run(t.Context(), l.scripts.acquire, keys, "me", c.token, "1000000", "ask", "", "", "1000000")
		case "extend":
			r, err = n.run(t.Context(), l.scripts.extend, append(keys[:1:1], names...), "me", c.token, "1000000", 0)
		default:
			r, err = n.run(t.Context(), l.scripts.settle, keys, "me", c.token, c.call, num(c.token)+":done:0::", 60000, "", "free", "free")
		}
		var after []string
		for _, name := range names {
			if text, err := n.get(t.Context(), name); err == nil {
				after = append(after, text)
			}
		}
		if got, want := strings.Join(after, " "), say.Replace(c.after); err != nil || r.code != c.code || got != want {
			t.Errorf("%s: %s, %v, keeps %q; want %s and %q", name, r.code, err, got, c.code, want)
		}
		if _, err := n.get(t.Context(), keys[1]); err == nil {
			t.Errorf("%s: it wrote a completion record", name)
		}
	}
}

func num(n int64) string { return strconv.FormatInt(n, 10) }
