package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// errPortTaken says that another process got the port first.
var errPortTaken = errors.New("another process has the port")

// process is one child from its start to its end. It is safe for concurrent
// use.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string        // the file that has its output
	done chan struct{} // closed once the child has ended and is reaped
}

// spawn starts cmd with its output in dir, in a log that each start begins
// anew. Should this process die first, the child gets the signal orphan.
func spawn(cmd *exec.Cmd, dir string, orphan syscall.Signal) (*process, error) {
	name := filepath.Base(cmd.Path)
	p := &process{name: name, cmd: cmd, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("servers: start %s: %w", name, err)
	}
	defer out.Close() // the child has its own copy
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(cmd.Environ(), "LC_ALL=C") // so that failure can read the log
	endWithParent(cmd, orphan)

	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("servers: start %s: %w", name, err)
	}
	return p, nil
}

// run starts the child and stays until it ends. Linux counts the thread that
// started a child, not the process, as the parent whose death it signals: hence
// the locked thread, which lives as long as the child.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // how it ended is in the log
	close(p.done)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal sends sig; a child that has ended is an error.
func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("servers: send %v to %s %d: %w", sig, p.name, p.pid(), err)
	}
	return nil
}

// kill ends the child at once, paused or not, and waits until it is gone.
func (p *process) kill() { p.end(syscall.SIGKILL) }

// end sends sig and waits until the child is gone.
func (p *process) end(sig syscall.Signal) {
	_ = p.signal(sig) // an error means that it has ended already
	<-p.done
}

// failure says why a child ended that should not have: the last lines of its
// log.
func (p *process) failure() error {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("it ended: %w", err)
	}
	if strings.Contains(string(text), "Address already in use") {
		return errPortTaken
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("it ended:\n%s", strings.Join(lines[max(0, len(lines)-10):], "\n"))
}
