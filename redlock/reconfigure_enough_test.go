package redlock

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

func TestANodeThatIsDownIsLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	processes := make([]*servers.Redis, 3)
	for i := range processes {
		processes[i] = ownServer(t, "--appendonly", "yes", "--appendfsync", "always")
	}
	l := fleetOf(t, processes)
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	processes[2].Kill()
	err := reconfigured(t.Context(), l, sooner)
	if out, ok := errors.AsType[*LeftOutError](err); !ok || len(out.Answers) != 1 || out.Answers[0].Node != l.nodes[2].name || out.Answers[0].Err == nil {
		t.Fatal(err)
	}
	next := fleetOf(t, processes, sooner)
	if err := next.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := processes[2].Start(); err != nil {
		t.Fatal(err)
	}
	if _, faults, err := checked[*ConfigError](t, fleetOf(t, processes, sooner)); len(faults) != 1 || faults[0].Node != l.nodes[2].name {
		t.Fatal("control: it still carries the old one:", err)
	}
	if err := reconfigured(t.Context(), l, sooner); err != nil {
		t.Fatal(err)
	}
	processes[1].Kill()
	processes[0].Kill()
	if err := reconfigured(t.Context(), l, func(*Config) {}); !errors.Is(err, ErrNoQuorum) {
		t.Fatal(err)
	}
	if marker, err := l.nodes[2].get(t.Context(), l.markerKey()); err != nil || configOf(marker) != next.config {
		t.Error("a minority was drained:", marker, err)
	}
}

func TestReconfigureRefusesWhatNewWould(t *testing.T) {
	t.Parallel()
	refused(t, Reconfigure(t.Context(), Config{}), "Nodes")
	refused(t, Reconfigure(t.Context(), Config{Nodes: URLs("redis://a:1")}, URLs("redis://u:p@h:x")...), "leaving[0]")
}

func TestAConfigurationThatDoesNotSayIsGivenTheLongestTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		configText(Config{MaxTTL: 1500 * time.Millisecond}): 1500 * time.Millisecond,
		"nodes=a maxttl=soon bound=5s":                      10 * time.Minute,
		"of another kind":                                   10 * time.Minute,
	} {
		if got := maxTTLOf(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What two operators may leave behind is mended by any third end, too.
func TestASplitIsMendedByAThirdConfiguration(t *testing.T) {
	t.Parallel()
	l := newLocker(t, realNodes(t, 5), shortLived(t))
	for i, n := range l.nodes {
		run, err := n.runID(n.wire)
		if err != nil {
			t.Fatal(err)
		}
		cfg := l.cfg
		cfg.Bound = time.Duration(1+i%3) * time.Second
		marker := run + ":1:" + configText(cfg)
		if err := n.client().Set(t.Context(), l.markerKey(), marker, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := reconfigured(t.Context(), l, sooner); err != nil {
		t.Fatal(err)
	}
	if all := markers(t, l); len(slices.Compact(all)) != 1 {
		t.Errorf("%q", all)
	}
}
