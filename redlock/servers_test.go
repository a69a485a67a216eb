package redlock

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// realServers are seven redis-servers that all tests of the package share,
// started by the first that wants any.
var realServers struct {
	once    sync.Once
	dir     string
	running []*servers.Redis
	err     error
}

// realNodes are the first n of them.
func realNodes(tb testing.TB, n int) []Node {
	tb.Helper()
	realServers.once.Do(func() { realServers.err = startServers(7) })
	if realServers.err != nil {
		tb.Fatal(realServers.err)
	}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = realServers.running[i].URL()
	}
	return URLs(urls...)
}

func startServers(n int) (err error) {
	if realServers.dir, err = os.MkdirTemp("", "redlock"); err != nil {
		return err
	}
	for i := range n {
		dir := filepath.Join(realServers.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		r, err := servers.StartRedis(dir)
		if err != nil {
			return err
		}
		realServers.running = append(realServers.running, r)
	}
	return nil
}

func stopServers() {
	for _, r := range realServers.running {
		r.Close()
	}
	_ = os.RemoveAll(realServers.dir)
}
