package servers

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAClockIsShiftedWhileTheServerRunsAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	r := ClockNodes(t, 1)[0]
	c := client(t, r)
	ahead := func() time.Duration {
		t.Helper()
		now, err := c.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(now).Round(time.Minute)
	}
	if err := c.Set(t.Context(), "k", "v", 30*time.Minute).Err(); err != nil || ahead() != 0 {
		t.Fatalf("control: %v ahead, %v", ahead(), err)
	}
	for _, d := range []time.Duration{time.Hour, -time.Hour} {
		if err := r.ShiftClock(d); err != nil || ahead() != d {
			t.Errorf("%v ahead, %v; want %v", ahead(), err, d)
		}
		// What expires goes by the same clock.
		if n, err := c.Exists(t.Context(), "k").Result(); err != nil || n != 0 {
			t.Errorf("%d keys an hour later, %v", n, err)
		}
	}
	if err := r.Restart(); err != nil || ahead() != -time.Hour {
		t.Errorf("after a restart: %v ahead, %v", ahead(), err)
	}
}

func TestTheMachinesClockIsNotShifted(t *testing.T) {
	t.Parallel()
	if err := RedisNodes(t, 1)[0].ShiftClock(time.Hour); !errors.Is(err, errNoClock) {
		t.Error(err)
	}
}

func TestAMissingCompilerIsSaidWithTheLineThatInstallsIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartRedisWithClock(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "gcc is not installed: "+compiler.install()) {
		t.Error(err)
	}
}
