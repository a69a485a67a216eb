package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfastjobs/holdfast/bench/internal/contender"
	"github.com/holdfastjobs/holdfast/bench/internal/nodes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHeldLeasesAreNotLost(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"-leases=50", "-ttl=2s", "-ttls=2"}, &out)
	if err != nil && strings.Contains(err.Error(), "lost") {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, line := range []string{
		`acquired in +[0-9.]+ s, [1-9]\d* a second`,
		`goroutines +\d+ holding none, \d+ holding all, \d+ at most`,
		`heap in use +-?\d+ bytes a lease`,
		`CPU +[0-9.]+ s in [4-9]\.\d s by this process, \d+ % of a core`,
		`CPU +[0-9.]+ s in [4-9]\.\d s by the nodes, \d+ % of a core`,
		`lost +0, and 0 while all were released; 0 releases are unknown`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).Match(out.Bytes()) {
			t.Errorf("no line %q in\n%s", line, &out)
		}
	}
}

// The count of lost leases would be worth nothing if it could not rise.
func TestLeasesOnSilentNodesAreCountedAsLost(t *testing.T) {
	set, err := nodes.Start(3)
	if err != nil {
		t.Fatal(err)
	}
	o := options{leases: 20, nodes: 3, ttls: 2, ttl: time.Second}
	l, err := contender.NewLocker(t.Context(), set.Addrs, o.ttl)
	if err != nil {
		t.Fatal(err)
	}
	freeze := time.AfterFunc(o.ttl+o.ttl/2, func() { // while the leases are held
		for _, s := range set.Servers[1:] {
			if err := s.Pause(); err != nil {
				t.Error(err)
			}
		}
	})
	thaw := time.AfterFunc(o.ttl*7/2, func() { // before CPU is asked for
		for _, s := range set.Servers[1:] {
			if err := s.Resume(); err != nil {
				t.Error(err)
			}
		}
	})
	defer func() {
		freeze.Stop()
		thaw.Stop()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f, err := hold(ctx, l, set, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.lost != o.leases || f.verdict() == nil {
		t.Errorf("%d lost with verdict %v, want all %d", f.lost, f.verdict(), o.leases)
	}
}

func TestTheVerdictIsOnLossAndGoroutines(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]figures{
		"":                           {none: usage{goroutines: 10}, held: usage{goroutines: 12, most: 30}},
		"1 leases were lost":         {lost: 1},
		"2 leases were lost":         {lost: 1, gone: 1},
		"goroutines differ by 21":    {none: usage{goroutines: 10}, held: usage{goroutines: 12, most: 31}},
		"goroutines differ by 9999,": {held: usage{goroutines: 9999, most: 9999}},
	} {
		err := f.verdict()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
