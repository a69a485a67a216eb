package redlock

import (
	"strings"
	"testing"
	"time"
)

func TestALifeIsReadFromItsMarker(t *testing.T) {
	t.Parallel()
	cfg := Config{MaxTTL: 10 * time.Second, Bound: 5 * time.Second, FenceTTL: time.Minute + time.Microsecond}
	for marker, want := range map[string]struct{ boot, ready, floor string }{
		"abc:1700000000000000:nodes=a:1,b:2": {"1700000000000000", "1700000010000000", "1700000005000000"},
		"ungated:0:nodes=a:1,b:2":            {"0", "0", "0"},
	} {
		l, err := newLife(marker, cfg)
		if err != nil || l.marker != marker || number(l.boot) != want.boot {
			t.Fatalf("%s: %+v, %v", marker, l, err)
		}
		for _, filled := range []string{
			"'" + marker + "'", "now < " + want.boot + " then", "now < " + want.ready + " then", "QUARANTINED " + want.ready + "'",
			"math.max(" + want.floor + ", now - 60000001 + 5000000)", "T > now + 5000000 then", "'PX', '60001'",
		} {
			if !strings.Contains(l.script.text, filled) {
				t.Errorf("%s: the script has no %s", marker, filled)
			}
		}
		if s := l.script; strings.Contains(s.text, "@") || len(s.sha) != 40 {
			t.Errorf("%s: %s is not filled in:\n%s", marker, s.sha, s.text)
		}
	}
}

func TestAScriptOfAnotherLifeIsAnotherScript(t *testing.T) {
	t.Parallel()
	shas := map[string]bool{}
	for _, marker := range []string{"a:1:nodes=a", "a:2:nodes=a", "b:1:nodes=a", "a:1:nodes=b"} {
		l, err := newLife(marker, Config{})
		if err != nil {
			t.Fatal(err)
		}
		shas[l.script.sha] = true
	}
	if len(shas) != 4 {
		t.Errorf("%d scripts, want 4", len(shas))
	}
}

func TestAMarkerThatIsNoneHasNoLife(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{"", "a", "a:1", "a:1:", ":1:c", "a::c", "a:x:c", "a:-1:c", "a:1:it's", `a:1:\`, "a:1:\n", "a:1:é"} {
		if l, err := newLife(marker, Config{}); err == nil {
			t.Errorf("%q: %+v", marker, l.boot)
		}
	}
}

func TestTheConfigReadsTheSameInAnyOrderOfNodes(t *testing.T) {
	t.Parallel()
	const want = "nodes=127.0.0.1:2,a,b maxttl=10s bound=5s fencettl=1m0s"
	for _, urls := range [][]string{
		{"redis://127.0.0.1:2", "a=redis://127.0.0.1:1", "b=redis://127.0.0.1:3"},
		{"b=redis://127.0.0.1:3", "redis://127.0.0.1:2", "a=redis://127.0.0.1:1"},
	} {
		cfg, err := Config{Nodes: URLs(urls...)}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if got := configText(cfg); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
