package redlock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

func TestAfterALossTheSameProcessTakesTheKeyAgainAndKeepsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	d := r.door(t)
	l, key := rigLocker(t, d.nodes), newKey(t)
	s := await(t, l, Key(key))
	each(t, (*servers.Proxy).BlackHole, d.proxies...)
	if rest(s.Context(), 2*time.Second) {
		t.Fatal("the lease lives on in the dark")
	}
	d.heal(t)
	start := time.Now()
	next := await(t, l, Key(key))
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	rest(t.Context(), 5*time.Second)
	if err := next.Check(t.Context()); err != nil {
		t.Error(err)
	}
	release(t, next, Released)
}

// holderNodes, when set, makes this test binary the process that is stalled.
const holderNodes = "HOLDFAST_TEST_HOLDER_NODES"

// A process that the system stops knows nothing of the time that passes.
func TestAHolderStalledWhileAnotherComesAndGoesEndsAsLost(t *testing.T) {
	const key = "stalled"
	if urls := os.Getenv(holderNodes); urls != "" {
		holdUntilLost(t, sameNames(strings.Fields(urls)), key)
		return
	}
	t.Parallel()
	r := newRig(t, 3)
	rival := rigLocker(t, r.direct())
	cmd, says := startHolder(t, r)
	held := <-says
	if _, err := rival.TryAcquire(t.Context(), Key(key)); !errors.Is(err, ErrHeld) {
		t.Fatalf("control: %q, and a rival hears %v", held, err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	other := await(t, rival, Key(key))
	release(t, other, Released)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if lost := <-says; !strings.HasPrefix(lost, "lost: expired") && !strings.HasPrefix(lost, "lost: taken") {
		t.Errorf("the holder said %q", lost)
	}
	for range 10 {
		s := await(t, rival, Key(key))
		if s.Abandoned() {
			t.Error("the stalled one has set it again")
		}
		release(t, s, Released)
		rest(t.Context(), 20*time.Millisecond)
	}
}

func startHolder(t *testing.T, r rig) (cmd *exec.Cmd, says <-chan string) {
	t.Helper()
	urls := make([]string, len(r.servers))
	for i, s := range r.servers {
		urls[i] = s.URL()
	}
	cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), holderNodes+"="+strings.Join(urls, " "))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			if strings.HasPrefix(in.Text(), "held: ") || strings.HasPrefix(in.Text(), "lost: ") {
				lines <- in.Text()
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range lines {
		}
		_ = cmd.Wait() // "signal: killed", if it came to that
	})
	return cmd, lines
}

func holdUntilLost(t *testing.T, nodes []Node, key string) {
	t.Helper()
	s := await(t, hastyLocker(t, nodes), Key(key))
	_, _ = fmt.Fprintf(os.Stdout, "held: %d\n", s.Token())
	<-s.Context().Done()
	why := "not lost"
	if lost, ok := errors.AsType[*LostError](context.Cause(s.Context())); ok {
		why = string(lost.Why)
	}
	if err := s.Check(t.Context()); !errors.Is(err, ErrLost) {
		why += fmt.Sprint(", and then ", err)
	}
	_, _ = fmt.Fprintf(os.Stdout, "lost: %s\n", why)
}
