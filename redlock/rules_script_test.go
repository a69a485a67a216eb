package redlock

import (
	"strings"
	"testing"
	"time"
)

// scriptsKeep says what one node answers, and keeps, to scripts sent to it as
// they are: what the client around them would hide.
func scriptsKeep(t *testing.T, nodes []Node) {
	n := newBareNode(t, nodes[0])
	now := n.time(t)
	T, boot := now-now%2, now-time.Hour.Microseconds()
	// Letters stand for numbers: T the token, B one below it, A one above it, F the
	// floor after it, R one not quite as recent, L a deadline to come.
	say := strings.NewReplacer("T", number(T), "R", number(T-6e6), "B", number(T-2), "A", number(T+2), "F", number(T+1), "L", number(now+time.Minute.Microseconds()))
	old, future := now-(n.cfg.FenceTTL-n.cfg.Bound).Microseconds()-1e6, now+n.cfg.Bound.Microseconds()+60e6
	minute, quarantined := now+time.Minute.Microseconds(), now-n.cfg.MaxTTL.Microseconds()/2
	for name, c := range map[string]struct {
		call     string // acquire, extend, or a mode of settle
		token    int64
		boot     int64
		notAfter int64
		before   string // records of one key or two; "" is none
		code     string
		after    string
	}{
		"an expired grant is not extended":               {"extend", T, boot, 0, "T:T:1:1:me:0:0:", codeGone, "T:T:1:1:me:0:0:"},
		"a forgotten grant is not extended":              {"extend", T, boot, 0, "", codeGone, ""},
		"a forgotten grant is set again while valid":     {"extend", T, boot, minute, "", codeRepaired, "T:T:1:D:me:0:0:"},
		"also in quarantine":                             {"extend", T, quarantined, minute, "", codeRepaired, "T:T:1:D:me:0:0:"},
		"an own lower grant is raised":                   {"extend", T, boot, minute, "B:B:1:L:me:4:2:old", codeRepaired, "T:T:1:D:me:4:2:old"},
		"what another took is not repaired":              {"extend", T, boot, minute, "A:A:1:L:other:T:2:me", codeLost, "A:A:1:L:other:T:2:me"},
		"what was released is not repaired":              {"extend", T, boot, minute, "F:T:0:0:me:0:0:", codeLost, "F:T:0:0:me:0:0:"},
		"a repair is of all keys or none":                {"extend", T, boot, minute, "B:B:0:0:old:0:0: B:B:1:L:other:0:0:", codeLost, "B:B:0:0:old:0:0: B:B:1:L:other:0:0:"},
		"abandon brings back what was displaced":         {modeAbandon, T, boot, 0, "T:T:1:L:me:4:2:old", codeOK, "F:4:2:0:old:0:0:"},
		"release keeps late messages out":                {modeRelease, T, boot, 0, "T:T:1:L:me:4:2:old", codeOK, "F:T:0:0:me:4:2:old"},
		"also where our grant was lower":                 {modeRelease, T, boot, 0, "B:B:1:L:me:4:2:old", codeOK, "F:T:0:0:me:4:2:old"},
		"abandon leaves another's lower grant alone":     {modeAbandon, T, boot, 0, "B:B:1:L:other:0:0:", codeNone, "F:B:1:L:other:0:0:"},
		"release leaves another's lower grant alone":     {modeRelease, T, boot, 0, "B:B:1:L:other:0:0:", codeNone, "F:B:1:L:other:T:0:me"},
		"and is noted beneath a higher one":              {modeRelease, T, boot, 0, "A:A:1:L:other:0:0:", codeNone, "A:A:1:L:other:T:0:me"},
		"and is known when that is over":                 {"extend", T, boot, minute, "F:B:1:1:other:T:0:me", codeLost, "F:B:1:1:other:T:0:me"},
		"a displaced tenure is told as released":         {modeRelease, T, boot, 0, "A:A:1:L:other:T:2:me", codeNone, "A:A:1:L:other:T:0:me"},
		"finish needs all keys":                          {modeFinish, T, boot, 0, "T:T:1:L:me:0:0: A:A:1:L:other:0:0:", codeStale, "F:T:0:0:me:0:0: A:A:1:L:other:T:0:me"},
		"a token as old as a forgotten record is low":    {"acquire", old, boot, 0, "", codeLow, ""},
		"a token from before the boot is low":            {"acquire", T - 8e6, now - n.cfg.MaxTTL.Microseconds() - 2e6, 0, "", codeLow, ""},
		"one from after it and its bound is not":         {"acquire", T - 6e6, now - n.cfg.MaxTTL.Microseconds() - 2e6, 0, "", codeOK, "R:R:1:D:me:0:0:"},
		"a token far ahead of the node's clock is early": {"acquire", future, boot, 0, "", codeFuture, ""},
		"a node has no vote when it is just up":          {"acquire", T, quarantined, 0, "", codeQuarantined, ""},
		"nor before its boot":                            {"acquire", T, minute, 0, "", codeRejoin, ""},
	} {
		records := strings.Fields(say.Replace(c.before))
		n.join(t, c.boot)
		claim, names := n.plant(t, records)
		var r reply
		switch c.call {
		case verbAcquire:
			r = n.run(t, verbAcquire, len(names), claim, "me", c.token, "1000000", doneAsk, "", "", "1000000")
		case verbExtend:
			r = n.run(t, verbExtend, len(names), names, "me", c.token, "1000000", c.notAfter)
		default:
			args := []any{"me", c.token, c.call, "free"}
			if len(names) == 2 {
				args = append(args, "free")
			}
			r = n.run(t, verbSettle, len(names), claim, append(args, number(c.token)+":done:0::", 60000, "")...)
		}
		want := strings.ReplaceAll(say.Replace(c.after), "D", number(r.now+1e6)) // D is the deadline of what was just set
		if got := n.kept(t, names); r.code != c.code || got != want {
			t.Errorf("%s: %v keeps %q; want %s and %q", name, r, got, c.code, want)
		}
		if n.kept(t, claim[len(names):len(names)+1]) != "" {
			t.Errorf("%s: it wrote a completion record", name)
		}
		n.otherLife(t, name, names)
	}
}

// otherLife says that nothing happens under another marker.
func (n *bareNode) otherLife(t *testing.T, name string, names []string) {
	before := n.kept(t, names)
	n.set(t, n.marker, "other:1:config")
	channels := make([]any, len(names))
	for i := range channels {
		channels[i] = "free"
	}
	for _, r := range []reply{
		n.run(t, verbAcquire, len(names), names, "me", n.time(t), "1000000"),
		n.run(t, verbExtend, len(names), names, "me", n.time(t), "1000000", n.time(t)+1e6),
		n.run(t, verbSettle, len(names), names, append([]any{"me", n.time(t), modeRelease}, channels...)...),
	} {
		if r.code != codeRejoin || n.kept(t, names) != before {
			t.Errorf("%s: another life answers %v and keeps %s", name, r, n.kept(t, names))
		}
	}
}
