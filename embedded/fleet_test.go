package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestNodesOutOfRangeAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, 2, 4, 6, 8, 9} {
		_, err := Start(n)
		want := fmt.Sprintf("embedded: nodes: %d is not accepted: want 1, 3, 5 or 7", n)
		if err == nil || err.Error() != want {
			t.Errorf("Start(%d): got %v, want %q", n, err, want)
		}
	}
}

func TestEveryServerAnswersOnALoopbackPortOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5, 7} {
		f := start(t, n)
		urls := append(f.Locks(), f.Queue())
		if len(f.Locks()) != n {
			t.Errorf("Start(%d): got %d lock nodes", n, len(f.Locks()))
		}
		for _, url := range urls {
			if !strings.HasPrefix(url, "redis://127.0.0.1:") {
				t.Errorf("got URL %q", url)
			}
			if err := dial(t, url).Ping(t.Context()).Err(); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
		slices.Sort(urls)
		if len(slices.Compact(urls)) != n+1 {
			t.Errorf("servers share a port: %v", urls)
		}
	}
}

func TestServersDoNotShareData(t *testing.T) {
	t.Parallel()
	f := start(t, 1)
	if err := dial(t, f.Locks()[0]).Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := dial(t, f.Queue()).Exists(t.Context(), "k").Val(); n != 0 {
		t.Error("the queue sees a key of a lock node")
	}
}

func TestAStoppedNodeRefusesAndComesBackWithItsData(t *testing.T) {
	t.Parallel()
	f := start(t, 3)
	before := f.Locks()
	c := dial(t, before[1])
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}

	f.StopNode(1)
	f.StopNode(1) // stopped stays stopped
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped node answered")
	}
	if err := dial(t, before[0]).Ping(t.Context()).Err(); err != nil {
		t.Errorf("its neighbour: %v", err)
	}

	for range 2 { // the second call finds it running
		if err := f.RestartNode(1); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(before, f.Locks()) {
		t.Errorf("ports moved: %v, then %v", before, f.Locks())
	}
	if v, err := c.Get(t.Context(), "k").Result(); v != "v" {
		t.Errorf("after restart: got %q, %v", v, err)
	}
}

func TestBlockingCommandsStillBlockAfterARestart(t *testing.T) {
	t.Parallel()
	f := start(t, 1)
	f.StopNode(0)
	if err := f.RestartNode(0); err != nil {
		t.Fatal(err)
	}
	const wait = 50 * time.Millisecond
	began := time.Now()
	err := dial(t, f.Locks()[0]).Do(t.Context(), "BLPOP", "empty", wait.Seconds()).Err()
	if took := time.Since(began); !errors.Is(err, redis.Nil) || took < wait {
		t.Errorf("BLPOP: got %v after %v, want nothing after %v", err, took, wait)
	}
}

func TestCloseIsFinalAndIdempotent(t *testing.T) {
	t.Parallel()
	f := start(t, 3)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.RestartNode(0); !errors.Is(err, ErrClosed) {
		t.Errorf("RestartNode after Close: got %v", err)
	}
	for _, url := range append(f.Locks(), f.Queue()) {
		if err := dial(t, url).Ping(t.Context()).Err(); err == nil {
			t.Errorf("%s still answers", url)
		}
	}
}
