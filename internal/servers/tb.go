package servers

import (
	"os"
	"sync"
	"testing"
)

// RedisNodes starts n independent redis-servers as [StartRedis] does, all at
// once, and closes them when the test ends.
func RedisNodes(tb testing.TB, n int, args ...string) []*Redis {
	tb.Helper()
	return redisNodes(tb, n, StartRedis, args)
}

// ClockNodes is [RedisNodes] by [StartRedisWithClock].
func ClockNodes(tb testing.TB, n int, args ...string) []*Redis {
	tb.Helper()
	return redisNodes(tb, n, StartRedisWithClock, args)
}

func redisNodes(tb testing.TB, n int, start func(string, ...string) (*Redis, error), args []string) []*Redis {
	tb.Helper()
	nodes, errs := make([]*Redis, n), make([]error, n)
	var starts sync.WaitGroup
	for i := range nodes {
		dir := tb.TempDir()
		starts.Go(func() { nodes[i], errs[i] = start(dir, args...) })
	}
	starts.Wait()
	for i, err := range errs { // first all clean-ups, then the verdict
		if err == nil {
			tb.Cleanup(nodes[i].Close)
		}
	}
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return nodes
}

// Postgres returns the DSN of a fresh, empty database, good until the test
// ends. One server has the databases of all tests of this process that run at
// once; a test whose subtests each want a database should take one itself
// first, so that the server outlives the gaps between them.
func Postgres(tb testing.TB) string {
	tb.Helper()
	c, err := shared.acquire()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := shared.release(); err != nil {
			tb.Error(err)
		}
	})
	dsn, err := c.Database(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return dsn
}

// shared is the server behind [Postgres]. It lives while a test uses it:
// nothing would end it, and remove its folder, after the last test.
var shared sharedCluster

type sharedCluster struct {
	mu      sync.Mutex
	users   int
	dir     string
	cluster *Cluster
}

func (s *sharedCluster) acquire() (*Cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	s.users++
	return s.cluster, nil
}

func (s *sharedCluster) start() (err error) {
	// Not tb.TempDir: the user postgres could not enter it.
	if s.dir, err = os.MkdirTemp("", "holdfast-postgres-"); err != nil {
		return err
	}
	if s.cluster, err = StartPostgres(s.dir); err != nil {
		_ = os.RemoveAll(s.dir)
	}
	return err
}

func (s *sharedCluster) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	if err := s.cluster.Close(); err != nil {
		return err
	}
	return os.RemoveAll(s.dir)
}
