package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var errDown = errors.New("servers: redis-server is not running")

// Redis is one redis-server process and the port it keeps through every
// restart. The one who started it closes it. It is safe for concurrent use.
type Redis struct {
	addr  string
	dir   string
	args  []string
	clock *clock // nil for the machine's

	mu     sync.Mutex // held while the process starts and ends
	proc   *process   // nil while it is down
	closed bool
}

// StartRedis starts a redis-server on a free loopback port and returns once it
// answers. dir is its working folder, which must exist and be its own; its log
// is there too. It keeps nothing on disk unless args say so: they come after
// our own and are as on its command line, such as "--appendonly", "yes".
func StartRedis(dir string, args ...string) (*Redis, error) {
	return startRedis(dir, args, func(string) (*clock, error) { return nil, nil })
}

// StartRedisWithClock is [StartRedis] for a server whose wall clock
// [Redis.ShiftClock] moves. It needs Linux and gcc.
func StartRedisWithClock(dir string, args ...string) (*Redis, error) {
	return startRedis(dir, args, newClock)
}

func startRedis(dir string, args []string, clock func(dir string) (*clock, error)) (*Redis, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("servers: start redis-server: %w", err)
	}
	r := &Redis{dir: dir, args: args}
	if r.clock, err = clock(dir); err != nil {
		return nil, err
	}
	err = onFreePort(func(port int) error {
		r.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		return r.Start()
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Addr returns the server's address, "127.0.0.1:PORT".
func (r *Redis) Addr() string { return r.addr }

// URL returns the server's URL, "redis://127.0.0.1:PORT".
func (r *Redis) URL() string { return "redis://" + r.addr }

// Kill ends the server as kill -9 does and returns once it is gone. One that is
// down stays down.
func (r *Redis) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kill()
}

// Start starts the server again after [Redis.Kill], on the same port and with
// what its folder holds, and returns once it answers. A running server is left
// alone. It fails after [Redis.Close] and if the port has been taken meanwhile.
func (r *Redis) Start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("servers: start redis-server: it is closed")
	}
	if r.proc != nil {
		return nil
	}
	path, err := redisServer.find()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		return fmt.Errorf("servers: start redis-server: %w", err)
	}
	args := append([]string{
		"--bind", "127.0.0.1", "--port", port, "--dir", r.dir, "--save", "", "--appendonly", "no",
	}, r.args...)
	cmd := exec.Command(path, args...)
	if r.clock != nil {
		cmd.Env = append(os.Environ(), r.clock.env()...)
	}
	p, err := spawn(cmd, r.dir, syscall.SIGKILL)
	if err != nil {
		return err
	}
	if err := p.ready(func(ctx context.Context) error { return pingRedis(ctx, r.addr, p.pid()) }); err != nil {
		return fmt.Errorf("servers: start redis-server on %s: %w", r.addr, err)
	}
	r.proc = p
	return nil
}

// Restart ends the server as kill -9 does and starts it again with what its
// folder holds: nothing, unless it was told to keep anything.
func (r *Redis) Restart() error {
	r.Kill()
	return r.Start()
}

// Wipe is [Redis.Restart] without the data that it kept on disk.
func (r *Redis) Wipe() error {
	r.Kill()
	// Where Redis puts them, unless it is told otherwise.
	err := errors.Join(os.RemoveAll(filepath.Join(r.dir, "appendonlydir")), os.RemoveAll(filepath.Join(r.dir, "dump.rdb")))
	if err != nil {
		return fmt.Errorf("servers: wipe: %w", err)
	}
	return r.Start()
}

// Pause freezes the server, as SIGSTOP does: its connections stay open, the
// system accepts new ones for it, and nothing answers until [Redis.Resume]. It
// fails on one that is down.
func (r *Redis) Pause() error { return r.signal(syscall.SIGSTOP) }

// Resume lets a paused server run on: it answers what was sent meanwhile. It
// fails on one that is down.
func (r *Redis) Resume() error { return r.signal(syscall.SIGCONT) }

// ShiftClock sets how far the server's wall clock is ahead of the machine's, at
// once and also after a restart. It fails on a server that was not started by
// [StartRedisWithClock].
func (r *Redis) ShiftClock(d time.Duration) error {
	if r.clock == nil {
		return errNoClock
	}
	return r.clock.shift(d)
}

// Close ends the server for good, as kill -9 does, paused or not. Further calls
// do nothing.
func (r *Redis) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.kill()
}

func (r *Redis) kill() {
	if r.proc != nil {
		r.proc.kill()
		r.proc = nil
	}
}

func (r *Redis) signal(sig syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proc == nil {
		return errDown
	}
	return r.proc.signal(sig)
}
