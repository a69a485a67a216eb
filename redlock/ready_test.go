package redlock

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// fleetOf is real nodes of this test's own, with locks that are short-lived enough
// to wait for.
func fleetOf(t *testing.T, processes []*servers.Redis, change ...func(*Config)) *Locker {
	t.Helper()
	urls := make([]string, len(processes))
	for i, r := range processes {
		urls[i] = r.URL()
	}
	return freshLocker(t, URLs(urls...), append([]func(*Config){func(c *Config) { c.TTL, c.MaxTTL, c.Namespace = time.Second, time.Second, "fleet:" }}, change...)...)
}

// hearsay is a log that may be written to and read at once.
type hearsay struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *hearsay) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *hearsay) count(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.text.String(), text)
}

func (h *hearsay) logger(c *Config) { c.Logger = slog.New(slog.NewTextHandler(h, nil)) }

func TestReadyWaitsOutTheFirstStartOnceAndSaysWhy(t *testing.T) {
	t.Parallel()
	var said hearsay
	l := fleetOf(t, servers.RedisNodes(t, 3), said.logger)
	start := time.Now()
	_, err := l.TryAcquire(t.Context(), Key("k"))
	none, ok := errors.AsType[*NoQuorumError](err)
	quarantined := func(a Answer) bool { return a.Code == codeQuarantined && a.Left > 0 }
	if !ok || !slices.ContainsFunc(none.Answers, quarantined) {
		t.Fatal("control: fresh nodes vote:", err)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Each node counts from when its marker was written, which is after start.
	if took := time.Since(start); took < l.cfg.MaxTTL || took > 3*l.cfg.MaxTTL {
		t.Errorf("ready after %v", took)
	}
	if n := said.count("waiting for lock nodes"); n != 1 || said.count("QUARANTINED") == 0 {
		t.Errorf("said %d times: %s", n, said.text.String())
	}
	release(t, take(t, l, Key("k")), Released)
	if err := l.Ready(t.Context()); err != nil || said.count("waiting for lock nodes") != 1 {
		t.Error("ready again:", err)
	}
	for _, n := range l.nodes[1:] { // wiped behind our back
		if err := n.client().FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	start = time.Now()
	if err := l.Ready(t.Context()); err != nil || time.Since(start) < l.cfg.MaxTTL*9/10 {
		t.Error("ready after most were wiped:", err, time.Since(start))
	}
}

func TestARestartedNodeAloneKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	processes := servers.RedisNodes(t, 3)
	first := fleetOf(t, processes)
	if err := first.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	restart := func(i int) {
		processes[i].Kill()
		if err := processes[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	restart(0)
	var said hearsay
	l := fleetOf(t, processes, said.logger)
	if err := l.Ready(t.Context()); err != nil || said.count("waiting for lock nodes") != 0 {
		t.Fatal(err, said.text.String())
	}
	restart(1) // the control: two of three
	l = fleetOf(t, processes)
	ctx, cancel := context.WithTimeout(t.Context(), l.cfg.MaxTTL/4)
	defer cancel()
	if err := l.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrNoQuorum) || !strings.Contains(err.Error(), codeQuarantined) {
		t.Fatal(err)
	}
}

func TestReadyDoesNotWaitForAnotherConfiguration(t *testing.T) {
	t.Parallel()
	processes := servers.RedisNodes(t, 3)
	theirs := fleetOf(t, processes)
	calm(theirs)
	var said hearsay
	l := fleetOf(t, processes, said.logger, func(c *Config) { c.Bound = time.Second })
	err := l.Ready(t.Context())
	if why, ok := errors.AsType[*ConfigError](err); !ok || why.Theirs != theirs.config || why.Ours != l.config || said.count("waiting for lock nodes") != 0 {
		t.Fatal(err)
	}
}

func TestReadyEndsWithTheLocker(t *testing.T) {
	t.Parallel()
	l := fleetOf(t, servers.RedisNodes(t, 3), func(c *Config) { c.MaxTTL = 10 * time.Minute })
	waits := make(chan error, 1)
	go func() { waits <- l.Ready(t.Context()) }()
	pause(t.Context(), 100*time.Millisecond)
	start := time.Now()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, ErrClosed) || time.Since(start) > 700*time.Millisecond {
		t.Fatal(err, time.Since(start))
	}
}

// A node whose clock is alone with what it shows answers, and has no vote.
func TestReadyDoesNotCountANodeWithoutAVote(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l := freshLocker(t, addresses(m))
	m[0].Close()
	setAhead(t, m[1], 0)
	setAhead(t, m[2], time.Minute)
	if err := l.Ready(t.Context()); err != nil { // no majority of clocks agrees: none is known to be wrong
		t.Fatal(err)
	}
	setAhead(t, m[2], 2*time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := l.Ready(ctx); !errors.Is(err, ErrNoQuorum) || !strings.Contains(err.Error(), "its clock stepped") {
		t.Fatal(err)
	}
}
