package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfastjobs/holdfast/internal/servers"
)

// midway waits until the run is under way: its first line of progress is out.
func midway(t *testing.T, s *started) {
	t.Helper()
	out, in := io.Pipe()
	s.Stderr = io.MultiWriter(&s.err, in)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	seen := make(chan struct{})
	go func() {
		var text []byte
		buffer := make([]byte, 4096)
		for found := false; ; {
			n, err := out.Read(buffer)
			text = append(text, buffer[:n]...)
			if !found && bytes.Contains(text, []byte("charged;")) {
				found = true
				close(seen)
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { in.Close() })
	select {
	case <-seen:
	case <-time.After(20 * time.Second):
		_ = s.Process.Kill()
		t.Fatal("no progress")
	}
}

func TestNothingStaysBehindHoweverTheRunEnds(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t, "-in", payments(t, 2000), "-workers", "2")
			midway(t, s)
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			ended := time.Now()
			_ = s.Wait() // for the worker processes too: they hold standard error
			if took := time.Since(ended); took > 12*time.Second {
				t.Errorf("took %v", took)
			}
			s.nothingLeft(t)
			if code := s.ProcessState.ExitCode(); signal != syscall.SIGKILL && code != 128+int(signal) {
				t.Errorf("exit code %d\n%s", code, &s.err)
			}
		})
	}
}

func TestOutputThatNobodyReadsIsNotTheEndOfTheCleanUp(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	s := start(t, "-in", payments(t, 12))
	s.Stdout = writer
	code := s.code(t)
	writer.Close()
	if code != 1 {
		t.Errorf("exit code %d\n%s", code, &s.err)
	}
}

func TestAQueueThatDiesInMidRunIsSaidAndEndsIt(t *testing.T) {
	t.Parallel()
	node := servers.RedisNodes(t, 1)[0]
	s := start(t, "-in", payments(t, 2000), "-workers", "1", "-redis", node.URL())
	midway(t, s)
	node.Kill()
	died := time.Now()
	_ = s.Wait()
	if took := time.Since(died); took > 25*time.Second || s.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d after %v", s.ProcessState.ExitCode(), took)
	}
	s.nothingLeft(t)
	lines := strings.Split(strings.TrimSpace(s.err.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "payments: ") || !strings.Contains(last, "queue") {
		t.Errorf("got %s", last)
	}
}
