package redlock

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// modelBench is a model node in its first life, past quarantine.
type modelBench struct {
	*modelNode
	now  int64
	life life
}

const benchStart = int64(1_700_000_000_000_000)

func newModelBench(tb testing.TB, without leftOut) *modelBench {
	tb.Helper()
	b := &modelBench{now: benchStart}
	b.modelNode = newModelNode("n", func() int64 { return b.now })
	b.without = without
	b.join(tb)
	b.now += 60e6
	return b
}

// join makes the node one of a life that begins now, and loads its scripts.
func (b *modelBench) join(tb testing.TB) {
	tb.Helper()
	cfg := sequenceConfigs[0]
	joined := b.say("EVAL", joinText, 1, "marker", b.runID(), configText(cfg), "found")
	var err error
	if b.life, err = newLife(joined[2], cfg); err != nil {
		tb.Fatal(err)
	}
	if got := b.say("SCRIPT", "LOAD", b.life.script.text); got[0] != b.life.script.sha {
		tb.Fatalf("loaded as %s, want %s", got, b.life.script.sha)
	}
}

// say returns the answer, or the refusal alone.
func (b *modelBench) say(cmd ...any) []string {
	a := b.pipeline([][]any{cmd})[0]
	if a.err != nil {
		return []string{a.err.Error()}
	}
	return a.text
}

func (b *modelBench) call(verb string, args ...any) string {
	cmds, _ := pack([]*request{{verb: verb, held: 1, keys: []any{"k"}, args: args}}, "marker", b.life.script.sha)
	said := b.say(cmds[0]...)
	return said[len(said)-1]
}

// acquire returns the code, or the refusal.
func (b *modelBench) acquire(nonce string, token int64) string {
	code, _, _ := strings.Cut(b.call(verbAcquire, nonce, token, 5000000), " ")
	return code
}

func (b *modelBench) settle(nonce string, token int64, mode string) {
	b.call(verbSettle, nonce, token, mode, "free")
}

// Each rule can be left out alone, and then a case that it is there for passes.
func TestAModelNodeMayBreakEachRule(t *testing.T) {
	for name, c := range map[string]struct {
		without leftOut
		play    func(*testing.T, *modelBench) string
		code    string
	}{
		"quarantine": {leftOut{noQuarantine: true, noBootFloor: true}, func(t *testing.T, b *modelBench) string {
			b.restart(loseAll)
			b.join(t)
			return b.acquire("a", b.now)
		}, codeQuarantined},
		"boot floor": {leftOut{noBootFloor: true}, func(t *testing.T, b *modelBench) string {
			b.restart(loseAll)
			b.join(t)
			b.now += 11e6
			return b.acquire("a", b.now-7e6)
		}, codeLow},
		"bound": {leftOut{noBound: true}, func(_ *testing.T, b *modelBench) string {
			return b.acquire("a", b.now+6e6)
		}, codeFuture},
		"expired floor": {leftOut{noExpiredFloor: true}, func(_ *testing.T, b *modelBench) string {
			b.now += 3600e6
			return b.acquire("a", b.now-60e6)
		}, codeLow},
		"low": {leftOut{lowIsFine: true}, func(_ *testing.T, b *modelBench) string {
			b.acquire("a", b.now)
			b.settle("a", b.now, modeRelease)
			return b.acquire("b", b.now)
		}, codeLow},
		"raised floor": {leftOut{noRaisedFloorOnAbandon: true}, func(_ *testing.T, b *modelBench) string {
			b.settle("a", b.now, modeAbandon)
			return b.acquire("a", b.now) // it was late
		}, codeLow},
		"marker": {leftOut{noMarker: true}, func(_ *testing.T, b *modelBench) string {
			b.flush()
			return b.acquire("a", b.now)
		}, codeRejoin},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.play(t, newModelBench(t, leftOut{})); got != c.code {
				t.Errorf("%s, want %s", got, c.code)
			}
			if got := c.play(t, newModelBench(t, c.without)); got != codeOK {
				t.Errorf("without it: %s, want OK", got)
			}
		})
	}
}

func TestAModelNodeForgetsItsScriptsWhenItRestarts(t *testing.T) {
	b := newModelBench(t, leftOut{})
	before := b.runID()
	b.restart(loseNothing)
	if got := b.acquire("a", b.now); got != "NOSCRIPT" || b.runID() == before {
		t.Errorf("%s in %s after %s", got, b.runID(), before)
	}
}

func TestAModelNodeLosesItsLastWrites(t *testing.T) {
	for lose, want := range map[int]string{loseNothing: "c", 1: "a", 2: "a", 3: "", loseAll: ""} {
		b := newModelBench(t, leftOut{})
		b.acquire("a", b.now)
		b.settle("other", b.now-10, modeRelease) // raises no floor, and is a write
		b.now += 6e6
		b.acquire("c", b.now)
		b.restart(lose)
		b.now -= 5e6
		if got := b.held()["k"].nonce; got != want {
			t.Errorf("without the last %d writes %q holds, want %q", lose, got, want)
		}
	}
}

func TestAModelNodeForgetsWhatExpired(t *testing.T) {
	b := newModelBench(t, leftOut{})
	b.acquire("a", b.now)
	marker := b.dump()["marker"]
	b.now += sequenceConfigs[0].FenceTTL.Microseconds()
	if b.dump()["k"] == "" {
		t.Error("too early")
	}
	b.now += time.Second.Microseconds()
	if got := b.dump(); len(got) != 1 || got["marker"] != marker {
		t.Errorf("it keeps %q", got)
	}
}

func TestAModelNodeTellsItsLife(t *testing.T) {
	b := newModelBench(t, leftOut{})
	if got := b.say("INFO", "server"); got[0] != "# Server\r\nredis_version:7.0.15\r\nrun_id:n.1\r\n" {
		t.Errorf("%q", got)
	}
	if got := b.say("TIME"); !slices.Equal(got, []string{"1700000060", "0"}) {
		t.Errorf("%q", got)
	}
	if got := b.say("GET", "marker"); got[0] != b.life.marker {
		t.Errorf("%q", got)
	}
	b.mute = true
	if got := b.say("INFO", "server"); len(got) != 1 || got[0][:6] != "NOPERM" {
		t.Errorf("%q", got)
	}
}

func BenchmarkModelNode(b *testing.B) {
	m := newModelBench(b, leftOut{})
	for b.Loop() {
		m.now += 2
		m.acquire("a", m.now)
		m.settle("a", m.now, modeRelease)
	}
}
