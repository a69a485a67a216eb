package redlock

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
)

// as makes nodes known to a user with these rights.
func as(t *testing.T, nodes []Node, user string, rights ...any) []Node {
	t.Helper()
	admin := newLocker(t, nodes)
	for i, n := range admin.nodes {
		cmd := append([]any{"ACL", "SETUSER", user, "reset", "on", ">pw", "~*", "&*", "+@all"}, rights...)
		if err := n.client().Do(t.Context(), cmd...).Err(); err != nil {
			t.Fatal(err)
		}
		options := *nodes[i].Options
		options.Username, options.Password = user, "pw"
		nodes[i].Options = &options
	}
	return nodes
}

func TestCheckWorksForAUserWhoMaySeeLittle(t *testing.T) {
	t.Parallel()
	for name, rights := range map[string][]any{
		"no CONFIG, and INFO server alone": {"-config", "-info", "+info|server"},
		"all, as a control":                {},
	} {
		l := newLocker(t, as(t, realNodes(t, 3), fmt.Sprintf("user%d", len(rights)), rights...))
		r, err := l.Check(t.Context())
		if err != nil {
			t.Fatal(name, err)
		}
		n, little := r.Nodes[0], len(rights) > 0
		if !n.Joined || n.RunID == "" || n.Version == "" || (n.Role == "") != little || (n.Policy == "") != little || (n.Persistence == "") != little || (n.Replicas < 0) != little {
			t.Errorf("%s: %+v", name, n)
		}
		if hasWarning(r, n.Node, "persistence cannot be seen") != little || strings.Contains(r.String(), "?") != little {
			t.Errorf("%s:\n%v", name, r)
		}
	}
}

func TestANodeThatHidesItsRunIDIsRefusedUnlessUngatedIsChosen(t *testing.T) {
	t.Parallel()
	nodes := as(t, realNodes(t, 3), "blind", "-info")
	l := newLocker(t, nodes)
	l.cfg.Ungated = false
	_, faults, err := checked[*UngatedError](t, l)
	if len(faults) != 3 || !errors.Is(err, ErrConfig) || !redis.HasErrorPrefix(faults[0].Err, "NOPERM") {
		t.Fatal(err)
	}
	l = newLocker(t, nodes, func(c *Config) { c.Namespace = newKey(t) + ":" })
	r, err := l.Check(t.Context())
	if err != nil || !r.Nodes[1].Ungated || r.Nodes[1].state() != "ungated" || !hasWarning(r, r.Nodes[1].Node, "ungated") {
		t.Fatal(err, r)
	}
}

func TestPersistenceIsToldAsFarAsItShows(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{"aof": {"--appendonly", "yes"}, "rdb": {"--save", "3600 1"}, "none": nil} {
		l := newLocker(t, URLs(ownServer(t, args...).URL()))
		r, err := l.Check(t.Context())
		if err != nil || r.Nodes[0].Persistence != want || hasWarning(r, r.Nodes[0].Node, "no persistence") != (want == "none") {
			t.Error(want, err, r)
		}
	}
}

func TestReplicasOfANodeAreCounted(t *testing.T) {
	t.Parallel()
	master := ownServer(t)
	l := newLocker(t, URLs(master.URL()))
	if r, err := l.Check(t.Context()); err != nil || r.Nodes[0].Replicas != 0 || hasWarning(r, r.Nodes[0].Node, "replicas") {
		t.Fatal(err, r)
	}
	ownServer(t, "--replicaof", strings.Replace(master.Addr(), ":", " ", 1))
	eventually(t, "the replica is seen", func() bool {
		r, err := l.Check(t.Context())
		return err == nil && r.Nodes[0].Replicas == 1 && hasWarning(r, r.Nodes[0].Node, "1 replicas")
	})
}

func TestASlowNodeIsNamed(t *testing.T) {
	t.Parallel()
	m := minis(t)
	l := newLocker(t, addresses(m))
	l.cfg.NodeTimeout = 400 * time.Millisecond
	m[1].Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
		if cmd == "TIME" {
			pause(t.Context(), l.cfg.NodeTimeout*6/10)
		}
		return false
	})
	r, err := l.Check(t.Context())
	if err != nil || r.Nodes[1].RoundTrip < l.cfg.NodeTimeout/2 || !hasWarning(r, "n1", "a round trip takes") || hasWarning(r, "n1", "its clock") || hasWarning(r, "n0", "a round trip takes") {
		t.Fatal(err, r)
	}
}

func TestAClockThatIsOffIsNamed(t *testing.T) {
	t.Parallel()
	m := minis(t)
	setAhead(t, m[2], -400*time.Millisecond)
	l := newLocker(t, addresses(m)) // a margin of 500 ms
	r, err := l.Check(t.Context())
	if err != nil || !hasWarning(r, "n2", "its clock is -") || hasWarning(r, "n1", "its clock is") || hasWarning(r, "n0", "its clock is") {
		t.Fatal(err, r)
	}
	if off := r.Nodes[2].Ahead + 400*time.Millisecond; off.Abs() > 100*time.Millisecond {
		t.Error(r.Nodes[2].Ahead)
	}
}

// setAhead makes a node tell another time.
func setAhead(t *testing.T, m *miniredis.Miniredis, d time.Duration) {
	t.Helper()
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd != "TIME" {
			return false
		}
		now := time.Now().Add(d).UnixMicro()
		p.WriteLen(2)
		p.WriteBulk(number(now / 1e6))
		p.WriteBulk(number(now % 1e6))
		return true
	})
}

func TestHostsAndTheirClocksAreToldByAddress(t *testing.T) {
	t.Parallel()
	kernel := func(ok, known bool) func() (bool, bool) { return func() (bool, bool) { return ok, known } }
	for _, c := range []struct {
		urls       string
		ok, known  bool
		want, none string
	}{
		{"redis://a:1 redis://b:1 redis://c:1", true, true, "cannot be seen from here", "one host"},
		{"redis://a:1 redis://A:2 redis://c:1", true, true, "a:1, A:2 are on one host, a", "this machine"},
		{"redis://[::1]:1 redis://localhost:2 redis://c:1", true, true, "[::1]:1, localhost:2 are on one host, this machine", "not synchronised"},
		{"redis://127.0.0.1:1 unix:///tmp/s redis://localhost:2", true, true, "are on one host, this machine", "synchronised"},
		{"redis://127.0.0.1:1 unix:///tmp/s redis://localhost:2", false, true, "is not synchronised", "cannot be seen"},
		{"redis://127.0.0.1:1 unix:///tmp/s redis://localhost:2", false, false, "is synchronised cannot be seen", "not synchronised"},
	} {
		urls := strings.Fields(c.urls)
		for i := range urls {
			if strings.HasPrefix(urls[i], "redis://[") {
				urls[i] = "v6=" + urls[i]
				c.want = strings.Replace(c.want, "[::1]:1", "v6", 1)
			}
		}
		l := newLocker(t, URLs(urls...))
		text := Report{Warnings: l.aboutHosts(kernel(c.ok, c.known))}.String()
		if !strings.Contains(text, c.want) || strings.Contains(text, c.none) {
			t.Errorf("%s: %s", c.urls, text)
		}
	}
}

func TestTheReportIsATableForPeople(t *testing.T) {
	t.Parallel()
	r := Report{
		Nodes: []NodeReport{
			{
				Node: "a", Reachable: true, Joined: true, Version: "7.2.4", Role: "master", RunID: strings.Repeat("1234567890", 4), Policy: "noeviction",
				Persistence: "aof", Ahead: -1500 * time.Microsecond, RoundTrip: 320 * time.Microsecond,
			},
			{Node: "bravo:6379", Reachable: true, Joined: true, Replicas: -1, Quarantine: 9800 * time.Millisecond, RoundTrip: time.Millisecond},
			{Node: "c", Err: errors.New("connection refused"), Replicas: -1},
		},
		Warnings: []Warning{{Node: "c", Text: "cannot be used now: connection refused"}, {Text: "of all"}},
	}
	want := strings.Join([]string{
		"NODE        STATE             VERSION  ROLE    POLICY      PERSISTENCE  REPLICAS  CLOCK   ROUND TRIP  RUN ID",
		"a           votes             7.2.4    master  noeviction  aof          0         -1.5ms  0.3ms       12345678",
		"bravo:6379  no vote for 9.8s  ?        ?       ?           ?            ?         +0.0ms  1.0ms       ?",
		"c           unreachable       ?        ?       ?           ?            ?         ?       ?           ?",
		"node c: connection refused", "warning: node c: cannot be used now: connection refused", "warning: of all", "",
	}, "\n")
	if got := r.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
