// Package nodes starts the redis-servers that the benchmarks share.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// Set is a number of independent redis-servers, fresh and in memory only. Its
// owner closes it.
type Set struct {
	Servers []*servers.Redis
	Addrs   []string

	dir     string
	clients []*redis.Client // to look at the servers with
}

// Start starts n servers.
func Start(n int) (*Set, error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-")
	if err != nil {
		return nil, err
	}
	s := &Set{dir: dir}
	for i := range n {
		home := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		r, err := servers.StartRedis(home)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.Servers, s.Addrs = append(s.Servers, r), append(s.Addrs, r.Addr())
		s.clients = append(s.clients, redis.NewClient(&redis.Options{Addr: r.Addr(), PoolSize: 1}))
	}
	return s, nil
}

// Close ends the servers and removes their folder.
func (s *Set) Close() error {
	var errs []error
	for i, r := range s.Servers {
		errs = append(errs, s.clients[i].Close())
		r.Close()
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// Version is the first server's.
func (s *Set) Version(ctx context.Context) (string, error) {
	return s.info(ctx, 0, "server", "redis_version")
}

// CPU is how many seconds of processor time all servers have used.
func (s *Set) CPU(ctx context.Context) (seconds float64, err error) {
	for i := range s.Servers {
		for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
			text, err := s.info(ctx, i, "cpu", field)
			if err != nil {
				return 0, err
			}
			used, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, err
			}
			seconds += used
		}
	}
	return seconds, nil
}

func (s *Set) info(ctx context.Context, server int, section, field string) (string, error) {
	text, err := s.clients[server].Info(ctx, section).Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("nodes: INFO %s has no %s", section, field)
}
