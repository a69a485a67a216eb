package redlock

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// ownServer is a redis-server of this test's own.
func ownServer(t *testing.T, args ...string) *servers.Redis {
	t.Helper()
	r, err := servers.StartRedis(t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// checked is the report, and the faults as far as they are of type E.
func checked[E error](t *testing.T, l *Locker) (Report, []E, error) {
	t.Helper()
	r, err := l.Check(t.Context())
	var faults []E
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			if fault, ok := errors.AsType[E](e); ok {
				faults = append(faults, fault)
			}
		}
	}
	return r, faults, err
}

func hasWarning(r Report, node, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Node == node && strings.Contains(w.Text, text) })
}

func TestCheckReportsEveryNodeAndFindsNoFaultInGoodOnes(t *testing.T) {
	t.Parallel()
	l := newLocker(t, realNodes(t, 3))
	r, err := l.Check(t.Context())
	if err != nil || len(r.Nodes) != 3 {
		t.Fatal(r, err)
	}
	for i, n := range r.Nodes {
		if n.Node != l.nodes[i].name || !n.Reachable || !n.Joined || n.Err != nil || older(n.Version, 7) || n.Mode != "standalone" || n.Role != "master" ||
			len(n.RunID) != 40 || n.Policy != "noeviction" || n.Persistence != "none" || n.Replicas != 0 || n.Ungated || n.Quarantine != 0 ||
			n.Ahead.Abs() > time.Second || n.RoundTrip <= 0 {
			t.Errorf("%+v", n)
		}
		if !hasWarning(r, n.Node, "no persistence") || hasWarning(r, n.Node, "ungated") || hasWarning(r, n.Node, "replicas") || hasWarning(r, n.Node, "cannot be used") {
			t.Error(r.Warnings)
		}
	}
	if !hasWarning(r, "", "are on one host, this machine") {
		t.Error(r.Warnings)
	}
}

func TestCheckRefusesServersThatMustNotBeLockNodes(t *testing.T) {
	t.Parallel()
	good := realNodes(t, 2)
	master := ownServer(t)
	port := master.Addr()[strings.LastIndex(master.Addr(), ":")+1:]
	for name, c := range map[string]struct {
		url  string
		want string // "" is the control
	}{
		"a primary with AOF":      {ownServer(t, "--appendonly", "yes").URL(), ""},
		"a primary with a limit":  {ownServer(t, "--maxmemory", "100mb").URL(), ""},
		"a replica":               {ownServer(t, "--replicaof", "127.0.0.1 "+port).URL(), "its role is slave"},
		"an evicting server":      {ownServer(t, "--maxmemory-policy", "allkeys-lru").URL(), "its maxmemory-policy is allkeys-lru"},
		"a cluster":               {ownServer(t, "--cluster-enabled", "yes").URL(), "it runs as cluster"},
		"the first by other name": {strings.Replace(good[0].source, "127.0.0.1", "localhost", 1), "the same server as node " + good[0].name()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := freshLocker(t, append(slices.Clone(good), URLs("odd="+c.url)...), quick)
			r, faults, err := checked[*NodeError](t, l)
			if c.want == "" {
				if err != nil || r.Nodes[2].Err != nil {
					t.Fatal(err, r)
				}
				return
			}
			if len(faults) != 1 || faults[0].Node != "odd" || !strings.Contains(faults[0].Seen, c.want) || faults[0].Want == "" || !errors.Is(err, ErrConfig) {
				t.Fatal(err)
			}
			if r.Nodes[2].Err == nil || r.Nodes[2].state() != "refused" || r.Nodes[0].Err != nil || r.Nodes[0].state() != "not asked" {
				t.Error(r)
			}
		})
	}
}

func TestCheckRefusesRedisBeforeSevenWhateverElseItIs(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"6.2.14": true, "7.0.0": false, "8.2.1": false, "10.0.0": false} {
		m := minis(t)
		tellsInfo(m[1], "redis_version:"+version+"\r\nrun_id:abc\r\n")
		_, faults, err := checked[*NodeError](t, newLocker(t, addresses(m)))
		if (len(faults) == 1 && strings.Contains(faults[0].Seen, version)) != want || (err != nil) != want {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// tellsInfo gives an embedded node something to say to INFO.
func tellsInfo(m *miniredis.Miniredis, text string) {
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd != "INFO" {
			return false
		}
		p.WriteBulk(text)
		return true
	})
}

func TestCheckLeavesFaultyNodesAsTheyWere(t *testing.T) {
	t.Parallel()
	lru := ownServer(t, "--maxmemory-policy", "allkeys-lru")
	l := freshLocker(t, append(realNodes(t, 2), URLs(lru.URL())...), func(c *Config) { c.Namespace = newKey(t) + ":" })
	marked := func() (marked int) {
		for _, n := range l.nodes {
			if _, err := n.get(t.Context(), l.markerKey()); err == nil {
				marked++
			}
		}
		return marked
	}
	if _, err := l.Check(t.Context()); !errors.Is(err, ErrConfig) || marked() != 0 {
		t.Fatal(err, marked())
	}
	if err := l.nodes[2].client().ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err(); err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(t.Context()) // the control
	if err != nil || marked() != 3 || r.Nodes[2].Quarantine <= 0 || !hasWarning(r, r.Nodes[2].Node, "no vote for another") {
		t.Fatal(err, marked(), r)
	}
}

func TestCheckTellsAMinorityThatIsDownFromAMajority(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l := newLocker(t, addresses(m), quick)
	m[2].Close()
	r, err := l.Check(t.Context())
	if err != nil || !hasWarning(r, "n2", "cannot be used now") || r.Nodes[2].Reachable || r.Nodes[2].Err == nil || hasWarning(r, "n1", "cannot be used now") {
		t.Fatal(err, r)
	}
	m[0].Close()
	_, err = l.Check(t.Context())
	if none, ok := errors.AsType[*NoQuorumError](err); !ok || len(none.Answers) != 3 || none.Answers[0].Err == nil || none.Answers[1].Err != nil {
		t.Fatal(err)
	}
}

func TestCheckNamesNodesOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	nodes, space := realNodes(t, 3), func(c *Config) { c.Namespace = "theirs:" }
	theirs := newLocker(t, nodes[:1], space)
	calm(theirs)
	l := newLocker(t, nodes, space)
	_, faults, err := checked[*ConfigError](t, l)
	if len(faults) != 1 || faults[0].Node != l.nodes[0].name || faults[0].Theirs != theirs.config || faults[0].Ours != l.config {
		t.Fatal(err)
	}
}

func TestCheckEndsWithItsContextAndWithTheLocker(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l := newLocker(t, addresses(m))
	resume := swallow(t, m[0])
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	resume()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Check(t.Context()); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func TestCheckLogsItsWarningsOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := newLocker(t, embeddedNodes(t, 3), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&said, nil)) })
	first, err := l.Check(t.Context())
	if err != nil || len(first.Warnings) == 0 {
		t.Fatal(err)
	}
	if _, err := l.Check(t.Context()); err != nil || strings.Count(said.String(), "lock node check") != len(first.Warnings) {
		t.Fatalf("%v, and for %d warnings it said\n%s", err, len(first.Warnings), &said)
	}
}
