package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is the parent's side of one worker process.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ready chan struct{} // closed by the first ready report
	ended chan struct{} // closed once the process is gone and err is set

	mu       sync.Mutex
	counts   Counts
	failed   string // its own word for why it ends
	stopping bool
	err      error
}

func start(line []byte, log io.Writer) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("fleet: find own program: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"=1")
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("fleet: pipe: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("fleet: pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("fleet: start worker: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, ready: make(chan struct{}), ended: make(chan struct{})}
	go p.watch(stdout)
	// A process that dies at once shows as ended; the write's error says less.
	_, _ = stdin.Write(append(line, '\n'))
	return p, nil
}

// watch ends with the process: reading first, for Wait closes the pipe.
func (p *process) watch(stdout io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l reportLine
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			p.take(l)
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	err := p.cmd.Wait()

	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed != "":
		p.err = errors.New(p.failed)
	case err != nil:
		p.err = fmt.Errorf("fleet: worker process %d: %w", p.cmd.Process.Pid, err)
	case !p.stopping:
		p.err = fmt.Errorf("fleet: worker process %d ended by itself", p.cmd.Process.Pid)
	}
}

func (p *process) take(l reportLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Counts != nil {
		p.counts = l.Counts
	}
	if l.Failed != "" {
		p.failed = l.Failed
	}
	if l.Ready {
		select {
		case <-p.ready:
		default:
			close(p.ready)
		}
	}
}

func (p *process) count(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[name]
}

// stop ends the process by SIGTERM, and by SIGKILL when that takes longer than
// grace. It returns after the process is gone.
func (p *process) stop(grace time.Duration) error {
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.stdin.Close() // where there is no SIGTERM, and harmless where it is gone
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	p.stdin.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
