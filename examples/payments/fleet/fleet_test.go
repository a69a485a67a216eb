package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is its own worker, too.
func TestMain(m *testing.M) {
	if IsWorker() {
		os.Exit(Serve(act))
	}
	goleak.VerifyTestMain(m)
}

type script struct {
	Fail bool `json:"fail"`
	Die  bool `json:"die"`
	Deaf bool `json:"deaf"`
}

// act is a worker that counts its starts and its ends.
func act(ctx context.Context, setup []byte, r *Reporter) error {
	var s script
	if err := json.Unmarshal(setup, &s); err != nil {
		return err
	}
	if s.Fail {
		return errors.New("act: no such stage")
	}
	r.Count(Counts{"starts": 1})
	r.Ready()
	if s.Die {
		return nil
	}
	if s.Deaf {
		select {}
	}
	<-ctx.Done()
	r.Count(Counts{"starts": 1, "ends": 1})
	return nil
}

func setup(t *testing.T, c Config) *Fleet {
	t.Helper()
	c.Log, c.Workers = os.Stderr, max(1, c.Workers)
	c.Grace = max(c.Grace, 100*time.Millisecond)
	f, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestCountsOutliveTheProcessThatReportedThem(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{Workers: 2, Grace: 5 * time.Second, Setup: script{}})
	if err := f.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if starts, ends := f.Count("starts"), f.Count("ends"); starts != 3 || ends != 1 {
		t.Fatalf("%d starts, %d ends after a restart", starts, ends)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if starts, ends := f.Count("starts"), f.Count("ends"); starts != 3 || ends != 3 {
		t.Fatalf("%d starts, %d ends at the end", starts, ends)
	}
	select {
	case err := <-f.Died():
		t.Fatalf("a stopped process counts as dead: %v", err)
	default:
	}
}

func TestAWorkerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Config{Workers: 3, Grace: 5 * time.Second, Setup: script{Fail: true}, Log: os.Stderr})
	if err == nil || err.Error() != "act: no such stage" {
		t.Fatalf("got %v", err)
	}
}

func TestAWorkerThatEndsByItselfIsReported(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{Setup: script{Die: true}})
	select {
	case err := <-f.Died():
		if !strings.Contains(err.Error(), "ended by itself") {
			t.Fatalf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not reported")
	}
}

func TestAWorkerThatDoesNotEndIsKilled(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{Setup: script{Deaf: true}})
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v", err)
	}
}

func TestWorkersEndAndTidyUpWhenTheParentsPipeCloses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]script{"one that listens": {}, "one that does not": {Deaf: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "ledger")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			f := setup(t, Config{Setup: s, Folder: folder, Grace: time.Minute})
			p := f.members[0]
			p.mu.Lock()
			p.stopping = true // it will, by the pipe alone
			p.mu.Unlock()
			p.stdin.Close()
			select {
			case <-p.ended:
			case <-time.After(10 * time.Second):
				t.Fatal("still there")
			}
			if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("folder: %v", err)
			}
		})
	}
}

func TestSignalsOfTheTerminalAreTheParentsBusiness(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{Setup: script{}, Grace: 5 * time.Second})
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := f.members[0].cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f.Count("ends") != 1 {
		t.Fatal("it did not end by SIGTERM")
	}
}

func TestAWorkerWithoutASetUpFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p, err := start([]byte("{"), &log)
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	p.stdin.Close()
	if p.err == nil || !strings.Contains(p.err.Error(), "read set-up") {
		t.Fatalf("got %v", p.err)
	}
}
