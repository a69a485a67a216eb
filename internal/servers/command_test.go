package servers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestACommandReturnsItsAnswerOrWhatRedisRefuses(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	for _, c := range []struct{ command, want, refused string }{
		{"SET k two\r\nlines", "OK", ""},
		{"GET k", "two\r\nlines", ""},
		{"GET none", "", ""},
		{"STRLEN k", "10", ""},
		{"LPUSH k v", "", "WRONGTYPE"},
		{"TIME", "", "no single value"},
	} {
		got, err := r.Command(t.Context(), strings.SplitN(c.command, " ", 3)...)
		if got != c.want || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %q, %v", c.command, got, err)
		}
	}
}

func TestACommandToAPausedNodeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := RedisNodes(t, 1)[0]
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Command(ctx, "PING"); err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(err, ctx.Err())
	}
}
