package main

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/embedded"
	"github.com/holdfastjobs/holdfast/internal/servers"
)

// nobody is an address where nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

// silent is an address where nobody answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestAServerThatIsDownIsOneLineWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	f, err := embedded.Start(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	up := f.Locks()[0]
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"queue refuses":        {[]string{"-redis", "redis://:secret@" + nobody(t)}, "the queue's Redis at 127.0.0.1:"},
		"queue silent":         {[]string{"-redis", "redis://:secret@" + silent(t)}, "the queue's Redis at 127.0.0.1:"},
		"most locks refuse":    {[]string{"-locks", up + ",redis://:secret@" + nobody(t) + ",redis://:secret@" + nobody(t)}, "2 of 3 lock nodes do not answer: 127.0.0.1:"},
		"locks silent":         {[]string{"-locks", "redis://:secret@" + silent(t)}, "1 of 1 lock nodes do not answer: 127.0.0.1:"},
		"PostgreSQL refuses":   {[]string{"-db", "postgres://u:secret@" + nobody(t) + "/db"}, "PostgreSQL at 127.0.0.1:"},
		"PostgreSQL silent":    {[]string{"-db", "postgres://u:secret@" + silent(t) + "/db"}, "PostgreSQL at 127.0.0.1:"},
		"SQLite without place": {[]string{"-db", "/no/such/folder/x.db"}, "SQLite file /no/such/folder/x.db: no such folder"},
		"book without place":   {[]string{"-book", "/no/such/folder/x"}, "payments: -book: open /no/such/folder/x: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.args...)
			began := time.Now()
			code, took := s.code(t), time.Since(began)
			if code != 1 || took > 5*time.Second || s.out.Len() > 0 {
				t.Errorf("exit code %d after %v, standard output %q", code, took, &s.out)
			}
			text := s.err.String()
			if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "payments: ") || !strings.Contains(text, c.want) || strings.Contains(text, "secret") {
				t.Errorf("got  %swant one line with %s", text, c.want)
			}
		})
	}
}

func TestAMinorityOfLockNodesMayBeDown(t *testing.T) {
	t.Parallel()
	nodes := servers.RedisNodes(t, 2)
	s := start(t, "-in", payments(t, 12), "-locks", nodes[0].URL()+","+nodes[1].URL()+",redis://"+nobody(t))
	if code := s.code(t); code != 0 || !strings.Contains(s.err.String(), "1 of 3 lock nodes do not answer") {
		t.Errorf("exit code %d\n%s", code, &s.err)
	}
}

// The first start of real nodes takes a moment, and says why.
func TestNewLockNodesAreWaitedForAndNamed(t *testing.T) {
	t.Parallel()
	nodes := servers.RedisNodes(t, 3)
	locks := nodes[0].URL() + "," + nodes[1].URL() + "," + nodes[2].URL()
	s := start(t, "-in", payments(t, 12), "-locks", locks)
	const waits = "payments: waiting for lock nodes"
	if code, text := s.code(t), s.err.String(); code != 0 || strings.Count(text, waits) != 1 || !strings.Contains(text, nodes[1].Addr()+" for ") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	s = start(t, "-in", payments(t, 12)) // the control: embedded ones give locks at once
	if code, text := s.code(t), s.err.String(); code != 0 || strings.Contains(text, waits) {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

func TestLockNodesThatEvictAreRefused(t *testing.T) {
	t.Parallel()
	r, err := servers.StartRedis(t.TempDir(), "--maxmemory-policy", "allkeys-lru")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	s := start(t, "-in", payments(t, 12), "-locks", r.URL())
	if code, text := s.code(t), s.err.String(); code != 1 || !strings.Contains(text, "maxmemory-policy is allkeys-lru; want noeviction") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
