package redlock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shortLived is a configuration of this test's own that can be waited for.
func shortLived(t *testing.T) func(*Config) {
	space := newKey(t)
	space = space[max(0, len(space)-60):] + ":"
	return func(c *Config) { c.TTL, c.MaxTTL, c.Namespace = time.Second, time.Second, space }
}

// reconfigured is Reconfigure to what change makes of a locker's configuration.
func reconfigured(ctx context.Context, l *Locker, change func(*Config), leaving ...Node) error {
	cfg := l.cfg
	change(&cfg)
	return reconfigure(ctx, cfg, leaving)
}

func sooner(c *Config) { c.TTL, c.MaxTTL = 500*time.Millisecond, 500*time.Millisecond }

// markers are what the nodes carry.
func markers(t *testing.T, l *Locker) (all []string) {
	t.Helper()
	for _, n := range l.nodes {
		marker, err := n.get(t.Context(), l.markerKey())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, configOf(marker))
	}
	return all
}

func TestReconfigureLetsOldLocksRunOutBeforeTheFirstNewOne(t *testing.T) {
	t.Parallel()
	nodes, own := realNodes(t, 5), shortLived(t)
	old := newLocker(t, nodes[:3], own, func(c *Config) { c.TTL, c.MaxTTL = 3*time.Second, 3*time.Second })
	s := take(t, old, Key("k"))
	to := func(c *Config) { sooner(c); c.Nodes = nodes[2:] } // most of the set is new
	err := reconfigured(t.Context(), old, to)
	if !errors.Is(err, ErrNoQuorum) || !strings.Contains(err.Error(), "give those that leave") {
		t.Fatal("a majority of the old set was not seen:", err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal("and it was disturbed:", err)
	}
	over := make(chan error, 1)
	go func() { over <- reconfigured(t.Context(), old, to, nodes[:2]...) }()
	var refused *ConfigError
	eventually(t, "old processes are refused", func() bool {
		_, err := old.TryAcquire(t.Context(), Key("other"))
		refused, _ = errors.AsType[*ConfigError](err)
		return refused != nil
	})
	if refused.Theirs != drainingWord+old.config || refused.Ours != old.config {
		t.Error(refused)
	}
	if left := s.end() - old.cfg.Clock.Now(); s.Context().Err() != nil && left > 4*longestTick {
		t.Errorf("the old lease ended with the drain, with %v left", left)
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	l := freshLocker(t, nodes[2:], own, sooner)
	if now := old.cfg.Clock.Now(); s.end() > now || s.Context().Err() == nil {
		t.Errorf("the new configuration came %v before the old lease ended", s.end()-now)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	release(t, take(t, l, Key("k")), Released)
	if lost, ok := errors.AsType[*LostError](s.Err()); !ok || lost.Why != LostExpired {
		t.Error(s.Err())
	}
	if _, err := old.TryAcquire(t.Context(), Key("k")); !errors.Is(err, ErrConfig) {
		t.Error("the old configuration still works:", err)
	}
}

// The control: without the drain there are two.
func TestWithoutADrainTwoConfigurationsHoldOneKey(t *testing.T) {
	t.Parallel()
	nodes, own := realNodes(t, 5), shortLived(t)
	old := newLocker(t, nodes[:3], own)
	s := take(t, old, Key("k"))
	l := freshLocker(t, nodes[2:], own, sooner)
	for _, n := range l.nodes {
		run, err := n.runID(n.wire)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.askToJoin(n.wire, run, joinReplace); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := await(t, l, Key("k"))
	if err := errors.Join(s.Check(t.Context()), second.Check(t.Context())); err != nil {
		t.Fatal("there were not two:", err)
	}
}

func TestAnInterruptedReconfigurationGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	var said hearsay
	l := newLocker(t, realNodes(t, 3), shortLived(t), said.logger, func(c *Config) { c.TTL, c.MaxTTL = 3*time.Second, 3*time.Second })
	release(t, take(t, l, Key("k")), Released)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := reconfigured(ctx, l, sooner); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "until it is said again") {
		t.Fatal(err)
	}
	drained := markers(t, l)
	if drained[0] != drainingWord+l.config {
		t.Fatal(drained)
	}
	start := time.Now()
	if err := reconfigured(t.Context(), l, sooner); err != nil || time.Since(start) > 2500*time.Millisecond {
		t.Fatal(err, time.Since(start))
	}
	next := freshLocker(t, realNodes(t, 3), func(c *Config) { c.Namespace = l.cfg.Namespace }, sooner)
	for _, config := range markers(t, l) {
		if config != next.config {
			t.Error(config)
		}
	}
	if err := next.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := said.count("\n")
	if err := reconfigured(t.Context(), l, sooner); err != nil || said.count("\n") != lines {
		t.Error("nothing to do:", err, said.text.String())
	}
	release(t, take(t, next, Key("k")), Released) // and nobody was disturbed
}

func TestADrainedFleetMayGoBackToWhatItWas(t *testing.T) {
	t.Parallel()
	l := newLocker(t, realNodes(t, 3), shortLived(t))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := reconfigured(ctx, l, sooner); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := reconfigured(t.Context(), l, func(*Config) {}); err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	release(t, take(t, l, Key("k")), Released)
}

func TestTwoOperatorsAtOnceLeaveNothingThatOneOfThemCannotMend(t *testing.T) {
	t.Parallel()
	for round := range 5 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			l := newLocker(t, realNodes(t, 5), shortLived(t))
			changes := [2]func(*Config){
				func(c *Config) { c.Bound = time.Second },
				func(c *Config) { c.Bound = 2 * time.Second },
			}
			ends := [2]chan error{make(chan error, 1), make(chan error, 1)}
			for i, change := range changes {
				go func() { ends[i] <- reconfigured(t.Context(), l, change) }()
			}
			first, second := <-ends[0], <-ends[1]
			for _, err := range []error{first, second} {
				if err != nil && !errors.Is(err, ErrConfig) {
					t.Fatal(err)
				}
			}
			if first == nil && second == nil {
				t.Fatalf("both were told that it is done: %q", markers(t, l))
			}
			if err := reconfigured(t.Context(), l, changes[1]); err != nil {
				t.Fatal("said again:", err)
			}
			for _, config := range markers(t, l) {
				if !strings.Contains(config, "bound=2s") || strings.Contains(config, drainingWord) {
					t.Fatalf("%q", markers(t, l))
				}
			}
		})
	}
}
