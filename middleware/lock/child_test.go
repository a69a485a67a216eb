package lock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/holdfastjobs/holdfast"
	"github.com/holdfastjobs/holdfast/middleware/lock"
	"github.com/holdfastjobs/holdfast/redlock"
	"github.com/holdfastjobs/holdfast/worker"
)

// The test binary starts itself once more as a worker process, which can be
// paused and killed. It says "run" at each run of its handler, which returns what
// it is told then: nil, skip or panic.
const childEnv = "HOLDFAST_TEST_CHILD"

func isChild() bool { return os.Getenv(childEnv) != "" }

// role is what a child is.
type role struct {
	Queue string
	Locks []string // none: plain asynq
}

func beChild() {
	var r role
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &r); err != nil {
		panic(err)
	}
	told := make(chan string)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			told <- lines.Text()
		}
		os.Exit(0) // the test is over
	}()
	redis := holdfast.Must(asynq.ParseRedisURI(r.Queue))
	handle := func() error {
		fmt.Println("run")
		switch <-told {
		case "skip":
			return asynq.SkipRetry
		case "panic":
			panic("told to")
		}
		return nil
	}
	if len(r.Locks) == 0 {
		server := asynq.NewServer(redis, asynq.Config{Concurrency: 1, TaskCheckInterval: 20 * time.Millisecond, LogLevel: asynq.FatalLevel})
		panic(server.Run(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return handle() })))
	}
	w := holdfast.Must(worker.New(worker.Config{
		Redis: redis, Concurrency: 1, TaskCheckInterval: 20 * time.Millisecond, DelayedTaskCheckInterval: 100 * time.Millisecond,
	}))
	locker := holdfast.Must(redlock.New(nodes{urls: r.Locks}.config()))
	worker.Handle(w, func(context.Context, charge) error { return handle() }, lock.Middleware(locker))
	panic(w.Run(context.Background()))
}

// child is the test's side of one.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.Writer
	runs chan string
}

func (r role) start(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0]), runs: make(chan string, 9)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(holdfast.Must(json.Marshal(r))))
	c.in = holdfast.Must(c.cmd.StdinPipe())
	out := holdfast.Must(c.cmd.StdoutPipe())
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.runs <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		c.signal(syscall.SIGKILL)
		<-read
		_ = c.cmd.Wait() // "signal: killed"
	})
	return c
}

// running waits until the child's handler runs.
func (c *child) running() {
	c.t.Helper()
	select {
	case <-c.runs:
	case <-time.After(20 * time.Second):
		c.t.Fatal("it does not run")
	}
}

func (c *child) tell(verdict string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, verdict); err != nil {
		c.t.Error(err)
	}
}

func (c *child) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) } // who is gone needs none
